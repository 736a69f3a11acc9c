"""Write what a wheel is made of and needs as CycloneDX 1.6:  python -m tests.packaging.sbom DIST  (part of `make dist`)

`DIST` holds wheels and source distributions; the bill of materials is written beside them, `reticent-VERSION.cdx.json`, and
has the SHA-256 of each. Components are what the package requires, and what that requires, on this Python and platform;
what each extra names (optional), and what the wheel was built with (excluded: Cython's C code is in the kernels). Versions
are those of constraints.txt. The same files give the same bytes: times and serial number come from them.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import tomllib
import uuid
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
EPOCH = "1767225600"  # seconds, as in dist_check


def read_pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = (line.partition("==") for line in lines if "==" in line)
    return {canonicalize_name(name): version for name, _, version in pins}


def list_requirements(name: str) -> list[str]:
    """List what an installed distribution requires here, without extras, by name."""
    needed = []
    for text in metadata.distribution(name).requires or ():
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            needed.append(canonicalize_name(requirement.name))
    return sorted(set(needed))


def find_license(name: str) -> list[dict[str, Any]]:
    """Return an installed distribution's own statement of its licence, where it is an SPDX expression."""
    try:
        expression = metadata.distribution(name).metadata.get("License-Expression")
    except metadata.PackageNotFoundError:
        return []
    return [{"expression": expression}] if expression else []


def make_component(name: str, version: str, scope: str) -> dict[str, Any]:
    address = f"pkg:pypi/{name}@{version}"
    component = {
        "type": "library",
        "bom-ref": address,
        "name": name,
        "version": version,
        "scope": scope,
        "purl": address,
    }
    licenses = find_license(name) if scope == "required" else []  # others may or may not be installed
    return {**component, "licenses": licenses} if licenses else component


def make_bill(dist: Path) -> dict[str, Any]:
    """Make the bill of materials of the archives in a folder."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project = settings["project"]
    pins = read_pins()
    direct = sorted({canonicalize_name(Requirement(each).name) for each in project["dependencies"]})
    requirements: dict[str, list[str]] = {}
    waiting = list(direct)
    while waiting:
        name = waiting.pop()
        if name not in requirements:
            requirements[name] = list_requirements(name)
            waiting += requirements[name]
    extras = {
        canonicalize_name(Requirement(each).name)
        for extra in project["optional-dependencies"].values()
        for each in extra
    }
    builders = {canonicalize_name(Requirement(each).name) for each in settings["build-system"]["requires"]}
    scopes = dict.fromkeys(builders & set(pins), "excluded") | dict.fromkeys(extras, "optional")
    scopes |= dict.fromkeys(requirements, "required")
    components = [make_component(name, pins[name], scope) for name, scope in sorted(scopes.items())]
    addresses = {component["name"]: component["bom-ref"] for component in components}
    own = f"pkg:pypi/{project['name']}@{project['version']}"
    archives = sorted([*dist.glob("*.whl"), *dist.glob("*.tar.gz")])
    digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in archives}
    built = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", EPOCH)), UTC)
    bill: dict[str, Any] = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": built.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": project["name"],
                "version": project["version"],
                "description": project["description"],
                "purl": own,
                "licenses": [{"expression": project["license"]}],
                "components": [
                    {
                        "type": "file",
                        "bom-ref": f"file:{name}",
                        "name": name,
                        "hashes": [{"alg": "SHA-256", "content": digest}],
                    }
                    for name, digest in digests.items()
                ],
            },
        },
        "components": components,
        "dependencies": [
            {"ref": own, "dependsOn": [addresses[name] for name in direct]},
            *(
                {"ref": addresses[name], "dependsOn": [addresses[needed] for needed in requirements[name]]}
                for name in sorted(requirements)
            ),
        ],
    }
    content = json.dumps(bill, sort_keys=True)
    return {**bill, "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, content)}"}


def write_bill(dist: Path) -> Path:
    """Write the bill of materials beside the archives of a folder."""
    bill = make_bill(dist)
    own = bill["metadata"]["component"]
    path = dist / f"{re.sub(r'[^a-z0-9.]+', '-', own['name'])}-{own['version']}.cdx.json"
    path.write_text(json.dumps(bill, indent=2) + "\n", encoding="utf-8")
    return path


if __name__ == "__main__":
    sys.stdout.write(f"{write_bill(Path(sys.argv[1]))}\n")
