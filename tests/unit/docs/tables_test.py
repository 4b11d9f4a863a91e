#!/usr/bin/env python3
"""The check of tables must fail for whatever it is for."""

import json
import pathlib
import subprocess
import tempfile
import unittest

import table
import tables

DEFINITIONS = """
[speeds]
title = "what"
columns = [{ title = "us", file = "machine/bench_a-1rank.json" }, { title = "peer", file = "machine/bench_a-1rank.json", field = "peer" }]
rows = [{ title = "all", name = "a/1rank" }]

[numbers.speed]
file = "machine/bench_a-1rank.json"
name = "a/1rank"
unit = " us"
"""
PAGE = """It takes <!-- number speed -->old<!-- end -->.

<!-- table speeds -->
<!-- end -->
"""


def git(folder, *arguments):
    settings = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", *settings, *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


class Tables(unittest.TestCase):
    """A repository with two commits, of which the first is the records'."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name) / "origin"
        self.results = self.root / "docs/results/machine"
        self.results.mkdir(parents=True)
        (self.root / "docs/performance").mkdir()
        git(self.root, "init", "-q")
        (self.root / "README.md").write_text("Nothing yet.\n")
        self.commit_all()
        self.commit = git(self.root, "rev-parse", "--short=10", "HEAD")
        (self.root / "docs/performance/tables.toml").write_text(DEFINITIONS)
        (self.root / "README.md").write_text(PAGE)
        self.record("bench_a-1rank", "a/1rank")
        self.record("bench_b-1rank", "b/1rank")
        self.write()
        self.commit_all()

    def commit_all(self):
        git(self.root, "add", "-A")
        git(self.root, "commit", "-q", "-m", "more")

    def record(self, file, name, **changed):
        record = {"name": name, "value": 1.5, "unit": "us", "peers": {"peer": 3.0}, "verified": True, "spread": 0.1,
                  "commit": self.commit, "hardware": "machine", **changed}
        record = {key: value for key, value in record.items() if value is not None}
        (self.results / f"{file}.json").write_text(json.dumps([record]))

    def write(self):
        """As scripts/tables.py, with pages of all records."""
        (self.results / "results.md").write_text(table.page(self.results.glob("*.json")))
        self.assertEqual(list(tables.problems(self.root, check=False)), [])

    def found(self):
        return list(tables.problems(self.root, check=True))

    def test_lets_what_is_written_pass(self):
        self.assertEqual(self.found(), [])
        text = (self.root / "README.md").read_text()
        self.assertIn("-->1.50 us<!--", text)
        self.assertIn("| all | 1.50 | 3.00 |", text)

    def test_takes_the_least_of_peers_whose_names_begin_alike(self):
        definitions = self.root / "docs/performance/tables.toml"
        definitions.write_text(DEFINITIONS.replace('field = "peer"', 'least = "by hand"'))
        self.record("bench_a-1rank", "a/1rank", peers={"by hand": 4.0, "by hand, otherwise": 2.5, "other": 2.0})
        self.write()
        self.assertIn("| all | 1.50 | 2.50 |", (self.root / "README.md").read_text())

    def test_sees_a_table_that_differs(self):
        page = self.root / "README.md"
        page.write_text(page.read_text().replace("| 1.50 |", "| 1.40 |"))
        self.assertEqual(self.found(), ["README.md isn't what its records say: run scripts/tables.py"])

    def test_sees_a_number_that_differs(self):
        page = self.root / "README.md"
        page.write_text(page.read_text().replace("1.50 us", "1.40 us"))
        self.assertEqual(self.found(), ["README.md isn't what its records say: run scripts/tables.py"])

    def test_sees_a_page_of_all_records_that_differs(self):
        page = self.results / "results.md"
        page.write_text(page.read_text().replace("1.5", "1.4"))
        self.assertEqual(self.found(), ["docs/results/machine/results.md isn't what its records say: run scripts/tables.py"])

    def test_sees_a_record_that_no_page_of_all_records_has(self):
        (self.results / "results.md").unlink()
        self.assertEqual(self.found(), ["docs/results/machine has records and no results.md: run scripts/table.py"])

    def test_sees_that_a_record_lacks_a_check(self):
        for verified in (None, False, 1):
            self.record("bench_a-1rank", "a/1rank", verified=verified)
            self.assertEqual(self.found(), ["docs/results/machine/bench_a-1rank.json: a/1rank isn't verified"])

    def test_looks_at_records_that_no_table_shows(self):
        self.record("bench_b-1rank", "b/1rank", verified=False)
        self.assertEqual(self.found(), ["docs/results/machine/bench_b-1rank.json: b/1rank isn't verified"])

    def test_sees_a_commit_that_is_not_in_the_history(self):
        elsewhere = git(self.root, "commit-tree", "HEAD^{tree}", "-m", "elsewhere")
        for commit in (elsewhere, "LAMMPS", ""):
            self.record("bench_b-1rank", "b/1rank", commit=commit)
            self.write()
            self.assertEqual(self.found(), [f"docs/results/machine/bench_b-1rank.json: commit '{commit}' isn't in the history"])

    def test_sees_a_measurement_in_prose(self):
        page = self.root / "README.md"
        page.write_text(page.read_text() + "\nIt once took 7 us.\n")
        self.assertEqual(len(self.found()), 1)
        self.assertIn("README.md:9: '7 us' comes from no record", self.found()[0])

    def test_shows_all_cases_of_a_simulation(self):
        case = {"name": "topo/ring/flat/8/portfolio", "value": 91.26, "worst": 95, "repetitions": 20, "time_percent": 88.0, "choice": "greedy",
                "peers": {"default": 100.0, "greedy": 91.26}}
        symmetric = {**case, "name": "topo/wrap/flat/8/portfolio", "peers": {"default": 100.0, "blocks": 99.0}, "remark": "nothing gained"}
        shown = tables.simulated_table({record["name"]: record for record in (case, symmetric)})
        self.assertEqual(shown.splitlines()[0],
                         "| pattern | fabric | ranks | seeds | greedy | blocks | portfolio | worst | link load, worst | time | choice |")
        self.assertEqual(shown.splitlines()[2], "| ring | flat | 8 | 20 | 91.3 |  | **91.3** | 95.0 |  | 88.0 | greedy |")
        self.assertEqual(shown.splitlines()[3], "| wrap | flat | 8 | 20 |  | 99.0 | **91.3** | 95.0 |  | 88.0 | nothing gained |")

    def test_fails_in_a_clone_without_history(self):
        clone = self.root.parent / "clone"
        git(self.root.parent, "clone", "-q", "--depth", "1", f"file://{self.root}", str(clone))
        found = list(tables.problems(clone, check=True))
        self.assertEqual(found, ["this clone lacks the history that records' commits are looked for in: git fetch --unshallow"])


class Conditions(unittest.TestCase):
    def test_name_settings_and_versions(self):
        text = table.conditions({"repetitions": 11, "settings": "A=1", "facts": {"order": "shuffled", "NCCL": "2.28"}, "peers": {"MPI": 1.0}})
        self.assertEqual(text, "11 rounds; settings: A=1; order: shuffled; NCCL: 2.28")

    def test_say_beside_nccl_that_multicast_is_off(self):
        text = table.conditions({"repetitions": 11, "peers": {"NCCL": 1.0}})
        self.assertEqual(text, "11 rounds; settings: not recorded; NVLink multicast is off for all")


if __name__ == "__main__":
    unittest.main()
