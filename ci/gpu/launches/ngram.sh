#!/usr/bin/env bash
# One of the launches that ci/gpu/run.py replays. The probe takes a tiny model in place of the names.
python3 -m sglang.launch_server --model-path target --attention-backend triton --speculative-algorithm NGRAM --speculative-num-draft-tokens 33
