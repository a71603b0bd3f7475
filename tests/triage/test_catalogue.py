"""The data files: every class, every signature with sources, an example that fires and a near miss that does not."""

import json
from pathlib import Path

import pytest

from ddtree_doctor.checks import rules
from ddtree_doctor.triage import catalogue as module
from ddtree_doctor.triage.catalogue import FaultClass, _class, catalogue, notices
from ddtree_doctor.triage.classify import WEIGHTS
from ddtree_doctor.triage.device import KINDS
from ddtree_doctor.triage.match import matches
from ddtree_doctor.triage.order import incident
from ddtree_doctor.triage.rows import readings
from ddtree_doctor.triage.subject import subject_of
from tests.triage.logs import reading_of

CLASSES = catalogue()
SIGNATURES = [(each, signature) for each in CLASSES.values() for signature in each.signatures]
IDS = [signature.id for _, signature in SIGNATURES]
FOLDER = Path(module.__file__).parent / "signatures"


def fired(lines) -> set[str]:
    """The signatures that match the incidents of a log of these lines."""
    subjects = [subject_of(found, run) for run in reading_of(*lines).runs if (found := incident(run))]
    return {
        one.id for subject in subjects for each in CLASSES.values() for one in each.signatures if matches(one, subject)
    }


def test_there_are_the_23_classes():
    schema = json.loads((FOLDER.parent / "schema.json").read_text("utf-8"))

    assert {*CLASSES, "unknown"} == set(schema["$defs"]["fault_class"]["enum"])
    assert len(CLASSES) == 23
    assert {path.stem for path in FOLDER.glob("*.json")} == set(CLASSES)


def test_ids_are_unique():
    assert len(IDS) == len(set(IDS))


@pytest.mark.parametrize(("each", "signature"), SIGNATURES, ids=IDS)
def test_the_example_fires_and_the_near_miss_does_not(each, signature):
    assert signature.id in fired(signature.example)
    assert signature.id not in fired(signature.near_miss)


@pytest.mark.parametrize(("each", "signature"), SIGNATURES, ids=IDS)
def test_a_signature_is_complete(each, signature):
    assert signature.sources
    assert all(url.startswith("https://") for url in (*signature.sources, *signature.fixed_in, *signature.reverted_in))
    assert signature.weight in WEIGHTS
    assert set(signature.device) <= {kind for kind, _ in KINDS}
    assert set(signature.phase) <= {"startup", "profile", "capture", "replay", "runtime"}
    assert bool(signature.versions) == bool(signature.package)
    conditions = (
        signature.text,
        signature.text_all,
        signature.near,
        signature.exception,
        signature.frames,
        signature.frames_all,
    )
    assert any(conditions) or signature.device or signature.reading or signature.config
    assert not signature.alone or signature.text, "a line that stands alone must be told by its text"
    assert all(work.risk for work in signature.workarounds)


@pytest.mark.parametrize("each", CLASSES.values(), ids=CLASSES)
def test_a_class_says_what_to_do(each):
    assert each.title
    assert each.fix
    assert each.next_step
    assert each.cannot_show
    assert all(work.risk for work in each.workarounds)
    assert set(each.rules) <= {rule.code for rule in rules()}


def test_the_rows_of_the_number_table_name_classes():
    assert readings
    from ddtree_doctor.triage import checkpoint_rows, rows, width_rows

    named = [
        value
        for part in (rows, checkpoint_rows, width_rows)
        for value in vars(part).values()
        if isinstance(value, tuple)
    ]
    assert {value[1] for value in named if len(value) == 2 and all(isinstance(word, str) for word in value)} <= set(
        CLASSES
    )


def test_an_unknown_key_in_a_data_file_is_an_error():
    data = json.loads((FOLDER / "kernel-bug.json").read_text("utf-8"))
    data["nmae"] = "x"

    with pytest.raises(ValueError, match="kernel-bug: unknown keys"):
        _class(data)


def test_lines_that_may_stand_alone_are_told_to_the_reader():
    told = notices(CLASSES)

    assert {notice.kind for notice in told} == {"notice", "hazard"}
    assert len(told) == sum(bool(signature.alone) for _, signature in SIGNATURES)


def test_nothing_outside_the_repository_is_named():
    text = "".join(path.read_text("utf-8") for path in FOLDER.glob("*.json"))

    assert not [word for word in ("/work/", "/opt/dd", "pypi") if word in text]
    assert isinstance(CLASSES["kernel-bug"], FaultClass)
