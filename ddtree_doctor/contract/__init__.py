"""The contract: what must hold for a launch, computed from facts alone and never from the engine's own answer."""
