"""What all visitors of one server share: limits, queues, runs and the cache."""
