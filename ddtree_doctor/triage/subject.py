"""What a signature is held against: one incident with the deployment it happened to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ddtree_doctor.triage.device import asynchronous, kinds
from ddtree_doctor.triage.known import Known, known_of
from ddtree_doctor.triage.mismatch import mismatches
from ddtree_doctor.triage.model import Fault, Frame
from ddtree_doctor.triage.order import Incident
from ddtree_doctor.triage.patterns import pattern
from ddtree_doctor.triage.reading import Reading
from ddtree_doctor.triage.rows import readings
from ddtree_doctor.triage.run import Run
from ddtree_doctor.triage.setup import Setup

__all__ = ["Subject", "subject_of"]

CAPTURING = pattern(
    r"\b(?:_?capture\w{0,40}|init_(?:all_|device_|cuda_)\w{0,30}graphs?|_warmup_and_capture|capture_model|compile_or_warm_up_model)\b"
)
PROFILING = pattern(r"\b(?:profile_run|determine_available_memory|_dummy_\w{0,30}|profile_\w{0,30}|make_dummy)\b")
REPLAYING = pattern(
    r"\b(?:replay\w{0,40}|run_fullgraph|_replay\w{0,30}|load_batch|init_forward_metadata_replay\w{0,30})\b"
)
SERVING = pattern(
    r"\b(?:event_loop_\w{1,30}|run_event_loop|run_busy_loop|process_batch_result|get_next_batch_to_run)\b"
)
CAPTURE_FAILED = "apture cuda graph failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """`text` is type and message of all parts, `near` the warnings shortly before them. `frames` are of all parts'
    whole chains, innermost last."""

    incident: Incident
    run: Run
    text: str
    near: str
    frames: tuple[Frame, ...]
    exceptions: tuple[str, ...]
    device: tuple[str, ...]
    asynchronous: bool
    phase: str
    engine: str
    known: Known
    readings: tuple[Reading, ...]
    stalled: bool
    derived: Mapping[str, bool]

    @property
    def best(self) -> Reading | None:
        """The reading to go by: the first row whose sizes the log itself gives, else the first that fits."""
        fits = [reading for reading in self.readings if reading.fit != "no"]
        return next((reading for reading in fits if reading.fit == "verified"), fits[0] if fits else None)


def subject_of(incident: Incident, run: Run) -> Subject:
    """The subject that `incident` of `run` makes."""
    faults = [fault for part in incident.parts for fault in part.chain()]
    own = "\n".join(fault.text for fault in faults)
    context = "\n".join(dict.fromkeys(place.text for fault in faults for place in fault.context))
    frames = tuple(frame for fault in faults for frame in fault.frames)
    known = known_of(run.setup, incident.lead.running)
    return Subject(
        incident=incident,
        run=run,
        text=own,
        near=context,
        frames=frames,
        exceptions=tuple(dict.fromkeys(fault.exception for fault in faults if fault.exception)),
        device=kinds(own),
        asynchronous=asynchronous(own, run.setup.text("env.CUDA_LAUNCH_BLOCKING") == "1"),
        phase=_phase(incident.lead, frames, own),
        engine=run.setup.engine or _engine(frames),
        known=known,
        readings=readings(mismatches(own), known),
        stalled=run.stalled(incident.lead.place),
        derived=_derived(run.setup, known),
    )


def _phase(lead: Fault, frames: tuple[Frame, ...], text: str) -> str:
    functions = " ".join(frame.function for frame in frames)
    if PROFILING.search(functions):
        return "profile"
    if CAPTURING.search(functions) or CAPTURE_FAILED in text:
        return "capture"
    if REPLAYING.search(functions):
        return "replay"
    return "runtime" if SERVING.search(functions) else lead.phase


def _derived(setup: Setup, known: Known) -> dict[str, bool]:
    """What follows from several settings at once, under names that signatures can ask for."""
    drafted = setup.number("num_speculative_tokens")
    rows, tokens = (setup.number("max_num_seqs") or 0) * (drafted or 0), setup.number("max_num_batched_tokens")
    each = (drafted or 0) + 1
    return {
        "derived.query_rows_beyond_tokens": tokens is not None and rows > tokens,
        "derived.unaligned_captures": drafted is not None
        and any(size % each for size in known.token_sizes if size > each),
    }


def _engine(frames: tuple[Frame, ...]) -> str:
    files = " ".join(frame.file for frame in frames)
    return "vllm" if "vllm/" in files else "sglang" if "sglang/" in files else ""
