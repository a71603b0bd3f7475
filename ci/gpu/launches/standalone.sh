#!/usr/bin/env bash
# One of the launches that ci/gpu/run.py replays. The probe takes a tiny model in place of the names.
python3 -m sglang.launch_server --model-path target --attention-backend triton --speculative-algorithm STANDALONE --speculative-draft-model-path standalone \
    --speculative-num-steps 3 --speculative-eagle-topk 4 --speculative-num-draft-tokens 17
