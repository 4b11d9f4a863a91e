#!/usr/bin/env python3
"""recipes_test.py SOURCE_FOLDER: recipes.py sees what it is for, in copies of the recipes that are each wrong in one way."""

import pathlib
import shutil
import sys
import tempfile
import unittest

import recipes

SOURCE = pathlib.Path(sys.argv.pop(1))
SPACK = "packaging/spack/package.py"
CPU = "packaging/container/cpu.Containerfile"


class Recipes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in ("cmake", "packaging", ".devcontainer", "scripts", "inputs"):
            shutil.copytree(SOURCE / name, self.root / name)
        for name in ("CMakeLists.txt", "CMakePresets.json", "CITATION.cff"):
            shutil.copy(SOURCE / name, self.root)

    def replace(self, name, old, new):
        path = self.root / name
        text = path.read_text()
        self.assertIn(old, text)
        path.write_text(text.replace(old, new))

    def expect(self, regex):
        self.assertRegex("\n".join(recipes.check(self.root)), regex)

    def easyconfig(self):
        return next((self.root / "packaging/easybuild").glob("*.eb")).relative_to(self.root)

    def test_sees_nothing_where_all_is_right(self):
        self.assertEqual(recipes.check(self.root), [])

    def test_sees_another_version(self):
        version = recipes.Project(self.root).version
        self.replace("CMakeLists.txt", f"VERSION {version}\n", "VERSION 7.0.0\n")
        self.expect(r"package.py: version .* 7\.0\.0")
        self.expect(r"\.eb: .* 7\.0\.0")
        self.expect(r"CITATION\.cff: .* 7\.0\.0")

    def test_sees_an_option_that_is_gone(self):
        self.replace("CMakeLists.txt", "option(SELVAGE_BUILD_BENCH ", "option(SELVAGE_BUILD_BENCHMARKS ")
        for name in ("package.py", r"\.eb", "cpu.Containerfile", "cuda.Containerfile"):
            self.expect(name + r": CMake has no option SELVAGE_BUILD_BENCH\b")

    def test_sees_a_library_that_is_new(self):
        self.replace("CMakeLists.txt", "include(SelvageCompiler)", "include(SelvageCompiler)\nfind_package(Foo)")
        self.expect("Foo is new in CMake")

    def test_sees_a_dependency_too_many_and_one_too_few(self):
        self.replace(SPACK, 'depends_on("scotch")', 'depends_on("metis")')
        self.expect("package.py: CMake looks for scotch, and")
        self.expect("package.py: CMake doesn't look for metis")

    def test_sees_another_oldest_version(self):
        self.replace("cmake/SelvageKokkos.cmake", "selvage_kokkos_oldest 4.5", "selvage_kokkos_oldest 4.9")
        self.expect("package.py: kokkos from 4.5 on, and CMake asks for 4.9")
        self.expect(r"\.eb: Kokkos 4\.7\.01, and CMake asks for 4\.9")

    def test_sees_a_bound_that_cmake_does_not_have(self):
        self.replace(SPACK, 'depends_on("scotch")', 'depends_on("scotch@6:")')
        self.expect("package.py: scotch from 6 on, and CMake asks for None")

    def test_sees_a_variant_that_is_gone(self):
        self.replace(SPACK, 'variant("profiler"', 'variant("recorder"')
        self.expect("package.py: there is no variant profiler")

    def test_sees_a_name_of_a_file_that_is_not_its_contents(self):
        self.replace(self.easyconfig(), "'gompi', 'version': '2025b'", "'gompi', 'version': '2024a'")
        self.expect(r"2025b\.eb: it is Selvage-.*-gompi-2024a\.eb by its contents")

    def test_sees_what_is_wrong_with_a_container(self):
        self.replace(CPU, "ARG BASE_IMAGE=debian:12", "ARG BASE_IMAGE=example.org/debian:12")
        self.replace(CPU, "COPY inputs", "COPY outputs")
        self.replace(CPU, "--preset serial", "--preset fast")
        self.replace(CPU, "RUN mpirun --oversubscribe -n 2 jacobi", "RUNS mpirun --oversubscribe -n 2 md")
        for regex in ("'example.org/debian:12' is neither", "no outputs to COPY", "no preset fast", "unknown instruction RUNS", "doesn't run jacobi"):
            self.expect("cpu.Containerfile: .*" + regex)

    def test_sees_a_stage_that_is_gone(self):
        self.replace(CPU, " AS build", " AS builds")
        self.replace(CPU, " AS dependencies", " AS packages")
        self.expect("COPY from build, which is no stage above")
        self.expect("devcontainer.json: cpu.Containerfile has no stage dependencies")


if __name__ == "__main__":
    unittest.main()
