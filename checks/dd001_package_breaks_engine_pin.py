"""DD001: what is installed against what the engine's own metadata asks for."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion

from ddtree_doctor.rule import Case, Check, Finding


class PackageBreaksEnginePin(Check):
    """An installed package is not of the version that this SGLang asks for."""

    code = "DD001"
    severity = "warning"
    why = (
        "SGLang calls kernel packages, torch and transformers by signatures of one version. Another version fails on "
        "import or on the first call (an unexpected keyword, a missing attribute), or runs a kernel whose bug the pin "
        "was raised to avoid. Kernel packages below SGLang's own minimum stop the server at start-up."
    )
    fix = ("install the version named above",)
    references = ("https://github.com/sgl-project/sglang/pull/3582",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """One finding for each installed distribution outside its pin. Distributions not installed are not judged."""
        if not case.facts.engine.pins:
            raise self.skip("no SGLang whose pins could be read")
        packages = {canonicalize_name(p.name): p for p in case.facts.host.packages.values()}
        for name, specifier in sorted(case.facts.engine.pins.items()):
            package = packages.get(canonicalize_name(name))
            if package is None or _allowed(package.version, specifier):
                continue
            yield self.found(
                "host",
                f"{package.name} {package.version} is installed; SGLang {case.facts.engine.version or ''} asks for "
                f"{package.name}{specifier}",
                fix=(f'pip install "{package.name}{specifier}"',),
                package=package.name,
                installed=package.version,
                pin=specifier,
            )


def _allowed(version: str, specifier: str) -> bool:
    """Whether a version meets a specifier; what packaging cannot read is no evidence of a mismatch."""
    try:
        return SpecifierSet(specifier).contains(version, prereleases=True)
    except (InvalidSpecifier, InvalidVersion):
        return True
