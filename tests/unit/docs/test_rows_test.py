#!/usr/bin/env python3
"""The check of the table of tests must see what it is for."""

import pathlib
import tempfile
import unittest

import test_rows

TEXT = f"""
| `comm.elsewhere` | |

{test_rows.HEADING}

| program | suites |
|---|---|
| `comm.halo` | with `comm.other` |
| `base.unit`, `campaign` | |

| `comm.later` | |
"""


class TestRows(unittest.TestCase):
    def setUp(self):
        self.names = test_rows.names_of_rows(TEXT)

    def test_take_the_first_cells_of_one_table(self):
        self.assertEqual(self.names, {"comm.halo", "base.unit", "campaign"})

    def test_have_the_runs_of_a_program(self):
        self.assertEqual(test_rows.without_a_row(["comm.halo", "comm.halo.queue.np2", "campaign.checks"], self.names), [])

    def test_are_asked_for_every_test_that_cmake_writes(self):
        lines = ['add_test(base.unit "a")', 'add_test("campaign" "b")', "add_test([=[comm.halo.np2]=] \"c\")"]
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "CTestTestfile.cmake").write_text("\n".join(lines))
            self.assertEqual(test_rows.tests_of(pathlib.Path(folder)), ["base.unit", "campaign", "comm.halo.np2"])

    def test_miss_what_has_no_row(self):
        tests = ["comm.halos.np2", "comm.other.np1", "comm", "base.unit"]
        self.assertEqual(test_rows.without_a_row(tests, self.names), ["comm", "comm.halos.np2", "comm.other.np1"])


if __name__ == "__main__":
    unittest.main()
