"""What was erased is in no later request, not even one of a handle that had read it before."""

import json

import pytest

import ctxtree
from ctxtree import Budget, Policy, Tree

SECRET = "Zebra-9931"


def said(tree: Tree, policy: Policy | None = None) -> bool:
    return SECRET in json.dumps(tree.compile(budget=Budget(1_500), policy=policy).payload)


@pytest.mark.parametrize("policy", [Policy.hybrid(), Policy.stable()], ids=["hybrid", "stable"])
def test_a_summary_that_a_handle_holds_goes_with_the_words_it_quotes(policy: Policy) -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("t")
        node = tree.user(f"Always use the passphrase {SECRET} for deploys.")
        tree.assistant("Understood.")
        for number in range(30):
            tree.user(f"Question {number}: " + "what about the cache and the index? " * 12)
            tree.assistant("It is fine. " * 30)
        assert [said(tree, policy) for _ in range(2)] == [True, True]
        store.purge(node.id, "asked for", "t")
        assert [said(tree, policy) for _ in range(2)] == [False, False]
        assert all(SECRET not in one.text for one in tree.path())
        assert store.verify()[0].code == "erased"


def test_the_note_of_a_failed_attempt_goes_with_its_words() -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("t")
        tree.user("Deploy it.")
        attempt = tree.assistant(f"I used {SECRET}.")
        tree.retry(f"{SECRET} was refused")
        tree.assistant("Done with the other one.")
        tree.user("And now?")
        assert said(tree)
        store.purge(attempt.id, "asked for", "t")
        assert not said(tree)
