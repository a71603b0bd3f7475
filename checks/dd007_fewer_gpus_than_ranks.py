"""DD007: more ranks than GPUs."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.rule import Case, Check, Finding


class FewerGpusThanRanks(Check):
    """The launch starts more ranks on a node than the node has GPUs."""

    code = "DD007"
    why = "Each rank takes one GPU; the ranks beyond the last GPU fail at start-up."
    fix = ("lower --tp-size", "--gpu sm_120x8: name the machine that will serve")

    def judge(self, case: Case) -> Iterator[Finding]:
        """Ranks per node against GPUs. Only a warning where the GPUs are those of the machine the doctor runs on."""
        host, settings = case.facts.host, case.settings
        if not host.gpus:
            raise self.skip("no GPU known")
        tp = settings.tp.need()
        pp, nodes = (case.given.integer(name, default=1).need() for name in ("pp_size", "nnodes"))
        # Data parallelism inside attention shares the tensor-parallel ranks; without it each replica has its own.
        replicas = 1 if settings.dp_attention.need() else settings.dp.need()
        ranks = -(-tp * pp * replicas // max(nodes, 1))
        if ranks > len(host.gpus):
            yield self.found(
                "launch",
                f"tp {tp} × pp {pp} × {replicas} replica(s) over {nodes} node(s) makes {ranks} ranks a node; "
                f"{len(host.gpus)} GPU(s) are known",
                at=case.at("tp_size"),
                severity="error" if host.source == "--gpu" else "warning",
                tp=tp,
                pp=pp,
                replicas=replicas,
                nodes=nodes,
                ranks=ranks,
                gpus=len(host.gpus),
            )
