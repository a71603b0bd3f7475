"""Facts: what is true of a host, an engine, the models and a launch. Read once, frozen, serialisable."""
