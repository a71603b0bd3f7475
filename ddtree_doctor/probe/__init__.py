"""Probes that can crash run elsewhere: own process, deadline, one JSON line back."""
