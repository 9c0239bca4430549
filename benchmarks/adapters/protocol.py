"""What an adapter and the benchmarks say to each other: a work file in, one JSON object out.

Work: `{"jobs": [{"messages": [...], "tokens": [...], "steps": [...], "budget": n}], "seconds": n}`: messages in
OpenAI Chat form, what each costs, the places before which the peer is asked for its context, its limit, and
when a job stops early. Told: `{"version": "...", "jobs": [{"seconds": [...], "sent": [[...], ...]}]}`: a job's times,
and its requests, each message as its place in the work if it is unchanged, else itself.

An adapter is a class that `main` is called with: `Peer(budget)`, `put(message, tokens)` for each message,
`ask()` for the context in the peer's own form (this alone is timed), `sent(context)` for it as OpenAI Chat messages.
It runs with the peer's Python: standard library only, and tiktoken where it is installed.
"""

import asyncio
import json
import sys
from importlib.metadata import version
from pathlib import Path
from time import perf_counter


def main(peer, *packages):
    """Reads the work file named by the first argument; prints what the peer did as the last line."""
    work = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    told = [_job(peer, job, work["seconds"]) for job in work["jobs"]]
    print(json.dumps({"version": ", ".join(map(version, packages)), "jobs": told}))


def _job(make, job, limit):
    peer = make(job["budget"])
    messages, at = job["messages"], 0
    places = {spelled(message): place for place, message in enumerate(messages)}
    seconds, sent = [], []
    for step in job["steps"]:
        while at < step:
            peer.put(messages[at], job["tokens"][at])
            at += 1
        start = perf_counter()
        context = peer.ask()
        seconds.append(perf_counter() - start)
        request = peer.sent(context)
        sent.append([places.get(spelled(message), message) for message in request])
        if sum(seconds) > limit:
            break
    return {"seconds": seconds, "sent": sent}


def spelled(message):
    """A message as text to be found by: arguments of calls as values, without what is empty."""
    calls = [
        (call["id"], call["function"]["name"], arguments(call)) for call in message.get("tool_calls") or ()
    ]
    return json.dumps(
        [message["role"], message.get("content") or "", message.get("tool_call_id"), calls], sort_keys=True
    )


def arguments(call):
    """A call's arguments as an object."""
    return json.loads(call["function"]["arguments"])


def call(identity, name, given):
    """A call in OpenAI Chat form; `given` is an object or its JSON."""
    text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": text}}


def said(role, content, calls=(), **more):
    """A message in OpenAI Chat form."""
    return {"role": role, "content": content or "", **({"tool_calls": list(calls)} if calls else {}), **more}


class Kept:
    """A peer whose history is a list of messages of its own, each of which converts to one or more of Chat.

    What it was told that a message costs is found by the message's identity.
    """

    def __init__(self, budget):
        self.budget, self.history, self._tokens = budget, [], {}

    def put(self, message, tokens):
        own = self.read(message)
        self._tokens[id(own)] = tokens
        self.history.append(own)

    def tokens(self, messages):
        return sum(self._tokens[id(message)] for message in messages)

    def sent(self, context):
        return [said for message in context for said in self.write(message)]


def run(awaitable, loop=asyncio.new_event_loop()):  # noqa: B008 - one loop a process, as in an application
    return loop.run_until_complete(awaitable)
