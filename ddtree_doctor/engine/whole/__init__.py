"""`sglang.Engine` as a user has it, on tiny models: its own processes, scheduler and sampling."""
