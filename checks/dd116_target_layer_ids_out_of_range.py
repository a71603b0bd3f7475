"""DD116: a draft that wants hidden states of layers that the target does not have."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.contract.checkpoint import whole
from ddtree_doctor.facts.model import ModelConfig
from ddtree_doctor.knowledge import NotKnown
from ddtree_doctor.rule import Case, Check, Finding

IDS = {
    "DFLASH": ("dflash_config.target_layer_ids", "target_layer_ids"),
    "DDTREE": ("dflash_config.target_layer_ids", "target_layer_ids"),
    "DSPARK": ("dspark_target_layer_ids", "dflash_config.target_layer_ids", "target_layer_ids"),
    "EAGLE3": ("eagle_config.eagle_aux_hidden_state_layer_ids",),
}
TRAINED_ON = ("dflash_config.num_target_layers", "num_target_layers")


class TargetLayerIdsOutOfRange(Check):
    """The draft wants hidden states of target layers that the target does not have."""

    code = "DD116"
    refuses = True
    why = (
        "The draft reads the target's hidden states after certain layers, named by number in its config.json. A number "
        "beyond the last layer stops the server at start-up, or leaves the draft without input it was trained on; a "
        "draft trained on a target of another depth reads the wrong layers and is hardly ever accepted."
    )
    fix = ("--speculative-draft-model-path: the draft that was trained for this target",)
    references = (
        "https://github.com/sgl-project/sglang/issues/32204",
        "https://github.com/sgl-project/sglang/pull/32334",
    )

    def judge(self, case: Case) -> Iterator[Finding]:
        """Each layer number, and the depth that the draft was trained on, against the target's number of layers."""
        algorithm, draft = self.speculation(case), case.facts.draft
        if algorithm not in IDS or draft is None:
            raise self.skip("no draft that names target layers")
        if draft.unknown:
            raise NotKnown(f"config of {draft.name}", draft.unknown)
        ids, trained = _layer_ids(draft, IDS[algorithm]), next(filter(None, map(draft.get, TRAINED_ON)), None)
        if not ids and trained is None:
            raise self.skip("the draft's config.json names no target layers")
        layers = whole(case.facts.target, "num_hidden_layers") * _loops(case.facts.target)
        if beyond := [number for number in ids if not 0 <= number < layers]:
            yield self.found(
                f"{algorithm}/draft",
                f"the draft reads target layers {beyond}; the target's are 0 to {layers - 1}",
                at=case.at("speculative_draft_model_path"),
                target_layer_ids=ids,
                num_hidden_layers=layers,
            )
        if isinstance(trained, int) and trained != layers and not beyond:
            yield self.found(
                f"{algorithm}/draft",
                f"the draft was trained on a target of {trained} layers; this one has {layers}",
                at=case.at("speculative_draft_model_path"),
                severity="warning",
                num_target_layers=trained,
                num_hidden_layers=layers,
            )


def _layer_ids(draft: ModelConfig, keys: tuple[str, ...]) -> list[int]:
    found = next((ids for key in keys if isinstance(ids := draft.get(key), list)), [])
    return [number for number in found if isinstance(number, int)]


def _loops(target: ModelConfig) -> int:
    """How often a looped model runs its layers: layer numbers count each time."""
    loops = target.get("num_loops")
    return loops if isinstance(loops, int) and loops > 0 else 1
