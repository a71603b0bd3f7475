from dataclasses import replace

from ddtree_doctor.replay.record import Acceptance
from ddtree_doctor.report.behaviours import behaviour_line, behaviour_object
from tests.report.sample import report, verify_behaviour


def line(seen):
    return behaviour_line(behaviour_object(0, seen))


def test_scenarios_passes_and_graph_hits_are_counted():
    made = behaviour_object(2, verify_behaviour())
    assert (made["launch"], made["scenarios"], made["passes"], made["graph_hits"]) == (2, 2, 3, 2)


def test_a_person_reads_the_counts_on_one_line():
    assert line(verify_behaviour()) == (
        "DDTREE/target_verify, 33 wide, on triton (cpu): 2 scenarios, 3 passes, 2 hit their graph, "
        "81 kernel launches watched, 0 stray accesses in 11 s"
    )


def test_accepted_paths_are_named_where_the_engine_was_seen_to_accept():
    seen = replace(verify_behaviour(), acceptances=(Acceptance(scenario="rounds", accepted=(0, 2)),))
    assert "2 hit their graph, 1 accepted path, 81" in line(seen)


def test_what_cut_a_replay_short_is_said_behind_what_was_seen():
    assert line(replace(verify_behaviour(), unknown="killed by SIGSEGV")).endswith("in 11 s; then: killed by SIGSEGV")


def test_a_role_that_did_not_run_says_why():
    seen = replace(verify_behaviour(), passes=())
    assert line(replace(seen, unknown="timed out")).endswith("nothing ran: timed out")
    assert line(replace(seen, notes=("no graph for it",))).endswith("nothing ran: no graph for it")
    assert line(seen).endswith("nothing ran: no scenario was chosen")


def test_the_report_has_every_behaviour_of_every_launch():
    assert [seen["role"] for seen in report()["behaviours"]] == ["target_verify", "draft"]
