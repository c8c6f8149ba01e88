"""The SPDX document of a release against its artefacts and notices: check_sbom.py FOLDER"""

import hashlib
import json
import re
import sys
from pathlib import Path


def main(folder):
    (file,) = folder.glob("*.spdx.json")
    document = json.loads(file.read_text())
    faults = []

    def require(holds, what):
        if not holds:
            faults.append(what)

    require(document["spdxVersion"] == "SPDX-2.3" and document["dataLicense"] == "CC0-1.0", "not SPDX 2.3")
    require(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", document["creationInfo"]["created"]), "no date")
    packages = {package["SPDXID"]: package for package in document["packages"]}
    require(len(packages) == len(document["packages"]), "an identifier is given twice")
    for name, package in packages.items():
        require(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", name), f"{name}: not an identifier")
        for field in ("name", "versionInfo", "downloadLocation", "licenseDeclared", "copyrightText"):
            require(package.get(field), f"{name}: no {field}")
    related = set()
    for relation in document["relationships"]:
        ends = (relation["spdxElementId"], relation["relatedSpdxElement"])
        require(all(end in packages or end == "SPDXRef-DOCUMENT" for end in ends), f"{ends}: not in the document")
        related |= set(ends)
    require(set(packages) <= related, f"stand alone: {set(packages) - related}")

    described = {}
    for package in packages.values():
        if "packageFileName" in package:
            described[package["packageFileName"]] = package["checksums"][0]["checksumValue"]
    beside = {file.name, "NOTICES", "SHA256SUMS"}
    require(set(described) == {path.name for path in folder.iterdir()} - beside, "not the artefacts of the folder")
    for name, digest in described.items():
        require(hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest, f"{name}: checksum")

    notices = (folder / "NOTICES").read_text()
    inside = [r["relatedSpdxElement"] for r in document["relationships"] if r["relationshipType"] == "STATIC_LINK"]
    for name in inside:
        require(f"\n{packages[name]['name']} {packages[name]['versionInfo']}: " in notices, f"{name}: no notice")
    # What the sources include, whatever recorded the build.
    for library in ("fmt", "nlohmann-json", "rapidjson", "eigen", "boost", "cli11", "protozero", "valijson", "chart.js", "stdc"):
        require(any(library in name for name in inside), f"{library}: not in the document")
    for fault in faults:
        print(f"check_sbom.py: {fault}", file=sys.stderr)
    sys.exit(1 if faults else 0)


main(Path(sys.argv[1]))
