"""What pyproject.toml does not say twice: the packages of requirements.txt, requirements-oidc.txt and
requirements-parquet.txt."""

from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Requirements(MetadataHookInterface):
    def update(self, metadata: dict) -> None:
        metadata["dependencies"] = self._named("requirements.txt")
        metadata["optional-dependencies"] = {extra: self._named(f"requirements-{extra}.txt") for extra in ("oidc", "parquet")}

    def _named(self, file: str) -> list[str]:
        lines = (Path(self.root) / file).read_text().splitlines()
        return [line for line in lines if line and line[0] not in "#-"]
