"""ctxtree: a conversation-tree context compiler."""
