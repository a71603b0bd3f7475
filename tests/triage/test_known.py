from ddtree_doctor.triage.known import known_of
from ddtree_doctor.triage.model import Line, Place
from ddtree_doctor.triage.setup import Setup, learn
from tests.triage.logs import ARGS


def known(line, running=()):
    setup = Setup()
    learn(setup, Line(place=Place(file="f", line=1, text=line)))
    return known_of(setup, running)


def test_ddtree_verifies_budget_and_root_and_drafts_a_block():
    found = known(ARGS)

    assert (found.block, found.budget, found.verify) == (8, 32, 33)


def test_a_block_size_given_by_itself_wins_over_draft_tokens():
    found = known(ARGS.replace("DDTREE", "DSPARK").replace("tp_size=8", "speculative_dspark_block_size=7"))

    assert found.block == 7


def test_eagle_has_no_block():
    assert known("server_args=ServerArgs(speculative_algorithm='EAGLE', speculative_num_draft_tokens=8)").block is None


def test_vllm_verifies_one_more_than_it_speculates():
    assert known("non-default args: {'speculative_config': {'method': 'mtp', 'num_speculative_tokens': 3}}").verify == 4


def test_the_largest_captured_batch_comes_from_the_list_before_the_maximum():
    assert known("server_args=ServerArgs(cuda_graph_bs=[1, 4], cuda_graph_max_bs=16)").graph_max == 4
    assert known("server_args=ServerArgs(cuda_graph_max_bs=16)").graph_max == 16


def test_what_is_not_told_is_none():
    found = known("", (3,))

    assert (found.block, found.graph_max, found.context, found.running) == (None, None, None, (3,))
