#!/usr/bin/env python3
"""recipes.py SOURCE_FOLDER: the recipes of packaging/ and .devcontainer agree with CMakeLists.txt and cmake/: version, names of options,
dependencies and their oldest versions. Prints what differs, and then ends with exit code 1."""

import ast
import json
import pathlib
import re
import sys

# Libraries by CMake's name, with Spack's and EasyBuild's. None: that one brings it along, or the recipe doesn't build what needs it.
DEPENDENCIES = {
    "Kokkos": ("kokkos", "Kokkos"),
    "MPI": ("mpi", None),
    "fmt": ("fmt", "fmt"),
    "hwloc": ("hwloc", "hwloc"),
    "pugixml": ("pugixml", "pugixml"),
    "SCOTCH": ("scotch", "SCOTCH"),
    "HDF5": ("hdf5", "HDF5"),
    "nlohmann_json": ("nlohmann-json", "nlohmann_json"),
    "CLI11": ("cli11", "CLI11"),
    "CUDAToolkit": ("cuda", None),
    "PkgConfig": ("pkgconfig", "pkgconf"),
    "CMake": ("cmake", "CMake"),
    "Threads": (None, None),
    "Git": (None, None),
    # Of the mini-apps, the tests and the benchmarks.
    "tomlplusplus": (None, None),
    "ZLIB": (None, None),
    "BLAS": (None, None),
    "GTest": (None, None),
    "benchmark": (None, None),
}
# What recipes need beside CMake's libraries.
TOOLS = {"c", "cxx", "ninja", "Ninja"}
# Of CMake and of packages that it finds, not of Selvage.
FOREIGN_OPTION = re.compile(r"^(CMAKE_[A-Z_]+|BUILD_SHARED_LIBS|MPI_CXX_COMPILER|Kokkos_ROOT)$")


def number(version):
    """A version to compare."""
    return tuple(int(part) for part in version.split("."))


class Project:
    """What CMake says."""

    def __init__(self, root):
        files = [root / "CMakeLists.txt", *sorted((root / "cmake").glob("*.cmake"))]
        text = "\n".join(path.read_text() for path in files)
        self.root = root
        self.version = re.search(r"^\s*VERSION ([0-9.]+)$", text, re.M)[1]
        self.options = set(re.findall(r"^\s*option\((\w+)", text, re.M)) | set(re.findall(r"^\s*set\((SELVAGE_\w+) .* CACHE ", text, re.M))
        self.found = set(re.findall(r"^\s*find_package\((\w+)", text, re.M)) | {"CMake", "hwloc"}
        self.oldest = {
            "Kokkos": re.search(r"set\(selvage_kokkos_oldest ([0-9.]+)\)", text)[1],
            "MPI": re.search(r"find_package\(MPI ([0-9.]+)", text)[1],
            "hwloc": re.search(r"hwloc>=([0-9.]+)", text)[1],
            "CUDAToolkit": re.search(r"CUDAToolkit_VERSION VERSION_LESS ([0-9.]+)", text)[1],
            "CMake": re.search(r"cmake_minimum_required\(VERSION ([0-9.]+)", text)[1],
        }

    def unknown_options(self, names):
        return sorted(name for name in names if name not in self.options and not FOREIGN_OPTION.match(name))


def calls(tree, name):
    """The calls of a function or a method, whatever the object."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", None)
            if called == name:
                yield node


def first_words(tree, name):
    """The first argument of each call; of an f-string its literal parts."""
    for call in calls(tree, name):
        argument = call.args[0]
        if isinstance(argument, ast.JoinedStr):
            yield "".join(part.value for part in argument.values if isinstance(part, ast.Constant))
        else:
            yield argument.value


def check_options(project, where, names):
    return [f"{where}: CMake has no option {name}" for name in project.unknown_options(names)]


def check_libraries(project, where, column, named):
    """NAMED: the dependencies of a recipe, by its own names. Every library that CMake looks for is among them, and no other."""
    problems = []
    for library in sorted(project.found - set(DEPENDENCIES)):
        problems.append(f"{library} is new in CMake: decide in {pathlib.Path(__file__).name} what the recipes call it")
    expected = {DEPENDENCIES[library][column] for library in project.found & set(DEPENDENCIES)} - {None}
    problems += [f"{where}: CMake looks for {name}, and the recipe doesn't depend on it" for name in sorted(expected - named)]
    problems += [f"{where}: CMake doesn't look for {name}" for name in sorted(named - expected - TOOLS)]
    return problems


def check_spack(project):
    path = project.root / "packaging/spack/package.py"
    tree = ast.parse(path.read_text())
    problems = []
    versions = list(first_words(tree, "version"))
    if versions != [project.version]:
        problems.append(f"{path.name}: version {versions}, and CMakeLists.txt has {project.version}")
    oldest = {}
    for spec in first_words(tree, "depends_on"):
        name, bound = re.match(r"([a-z0-9-]+)(?:@([0-9.]+):)?", spec).groups()
        oldest[name] = oldest.get(name) or bound
    problems += check_libraries(project, path.name, 0, set(oldest))
    for library, (name, _) in DEPENDENCIES.items():
        if name in oldest and oldest[name] != project.oldest.get(library):
            problems.append(f"{path.name}: {name} from {oldest[name]} on, and CMake asks for {project.oldest.get(library)}")
    variants = set(first_words(tree, "variant"))
    for call in calls(tree, "define_from_variant"):
        if call.args[1].value not in variants:
            problems.append(f"{path.name}: there is no variant {call.args[1].value}")
    options = [*first_words(tree, "define"), *first_words(tree, "define_from_variant")]
    return problems + check_options(project, path.name, options)


def read_easyconfig(text):
    """Its assignments, without EasyBuild's own names."""
    values = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.AugAssign):
            values[node.target.id] += ast.literal_eval(node.value)
        elif isinstance(node, ast.Assign):
            try:
                values[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                values[node.targets[0].id] = None
    return values


def check_easybuild(project):
    paths = sorted((project.root / "packaging/easybuild").glob("*.eb"))
    problems = [] if paths else ["packaging/easybuild has no recipe"]
    for path in paths:
        values = read_easyconfig(path.read_text())
        toolchain = values["toolchain"]
        name = f"{values['name']}-{values['version']}-{toolchain['name']}-{toolchain['version']}.eb"
        if (values["name"], values["version"], path.name) != ("Selvage", project.version, name):
            problems.append(f"{path.name}: it is {name} by its contents, and CMakeLists.txt has {project.version}")
        taken = dict(values["builddependencies"] + values["dependencies"])
        problems += check_libraries(project, path.name, 1, set(taken))
        for library, (_, name) in DEPENDENCIES.items():
            if name in taken and library in project.oldest and number(taken[name]) < number(project.oldest[library]):
                problems.append(f"{path.name}: {name} {taken[name]}, and CMake asks for {project.oldest[library]}")
        problems += check_options(project, path.name, re.findall(r"-D(\w+)=", values["configopts"]))
    return problems


INSTRUCTIONS = {"ARG", "FROM", "ENV", "WORKDIR", "COPY", "RUN"}


def instructions(text):
    """The (name, arguments) of a Containerfile, its continued lines joined."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return [line.partition(" ")[::2] for line in re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines()]


def read_stages(steps):
    """What a Containerfile's ARGs hold before the first FROM, and its stages: image, name and instructions."""
    defaults, stages = {}, []
    for name, arguments in steps:
        if name == "FROM":
            image, _, stage = arguments.partition(" AS ")
            stages.append((image, stage, []))
        elif stages:
            stages[-1][2].append((name, arguments))
        else:
            key, _, value = arguments.partition("=")
            defaults[key] = value
    return defaults, stages


def check_copies(project, where, arguments, names):
    """COPY takes from a stage above, or files that are here."""
    *sources, _ = arguments.split()
    if sources[0].startswith("--from="):
        stage = sources[0].removeprefix("--from=")
        return [] if stage in names else [f"{where}: COPY from {stage}, which is no stage above"]
    return [f"{where}: there is no {source} to COPY" for source in sources if not (project.root / source).exists()]


def check_container(project, path):
    steps = instructions(path.read_text())
    problems = [f"{path.name}: unknown instruction {name}" for name, _ in steps if name not in INSTRUCTIONS]
    defaults, stages = read_stages(steps)
    names = []
    for image, name, body in stages:
        image = re.sub(r"\$\{(\w+)\}", lambda found: defaults.get(found[1], ""), image)
        if image not in names and not re.fullmatch(r"[a-z0-9]+(/[a-z0-9]+)?:[a-z0-9.-]+", image):
            problems.append(f"{path.name}: '{image}' is neither a stage above nor an image's name and tag without a host")
        for _, arguments in (step for step in body if step[0] == "COPY"):
            problems += check_copies(project, path.name, arguments, names)
        names.append(name)
    if len(stages) < 2 or stages[-1][2][-1][0] != "RUN" or "jacobi" not in stages[-1][2][-1][1]:
        problems.append(f"{path.name}: its last step doesn't run jacobi")
    text = path.read_text()
    for script in re.findall(r"\bscripts/\w+\.sh\b", text):
        if not (project.root / script).exists():
            problems.append(f"{path.name}: there is no {script}")
    presets = {preset["name"] for preset in json.loads((project.root / "CMakePresets.json").read_text())["configurePresets"]}
    problems += [f"{path.name}: there is no preset {name}" for name in re.findall(r"--preset (\S+)", text) if name not in presets]
    return problems + check_options(project, path.name, re.findall(r"-D(\w+)=", text))


def check_devcontainer(project):
    path = project.root / ".devcontainer/devcontainer.json"
    build = json.loads(path.read_text())["build"]
    file = path.parent / build["dockerfile"]
    if not file.exists() or not (path.parent / build["context"] / "CMakeLists.txt").exists():
        return [f"{path.name}: {build['dockerfile']} or {build['context']} is wrong"]
    _, stages = read_stages(instructions(file.read_text()))
    bodies = {name: body for _, name, body in stages}
    if build["target"] not in bodies:
        return [f"{path.name}: {file.name} has no stage {build['target']}"]
    known = {arguments.partition("=")[0] for name, arguments in bodies[build["target"]] if name == "ARG"}
    return [f"{path.name}: that stage takes no {name}" for name in build["args"] if name not in known]


def check_citation(project):
    stated = re.search(r"^version: (.*)$", (project.root / "CITATION.cff").read_text(), re.M)[1]
    return [] if stated == project.version else [f"CITATION.cff: version {stated}, and CMakeLists.txt has {project.version}"]


def check(root):
    """What differs, a sentence each."""
    project = Project(root)
    problems = check_spack(project) + check_easybuild(project) + check_devcontainer(project) + check_citation(project)
    containers = sorted((root / "packaging/container").glob("*.Containerfile"))
    if len(containers) < 2:
        problems.append("packaging/container lacks a Containerfile")
    for path in containers:
        problems += check_container(project, path)
    return problems


def main():
    problems = check(pathlib.Path(sys.argv[1]))
    for problem in dict.fromkeys(problems):
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
