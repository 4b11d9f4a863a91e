#!/usr/bin/env python3
"""What counts as a measurement in prose."""

import pathlib
import tempfile
import unittest

import prose_numbers


def found(text):
    return [number for _, _, number in prose_numbers.measurements(text)]


class Measurements(unittest.TestCase):
    def test_are_numbers_with_a_unit(self):
        self.assertEqual(found("It takes 3.5 us, or 1 200 ms, at 40 GB/s, 12 % more, which is 1.7 times as long, or 2 times the work."),
                         ["3.5 us", "1 200 ms", "40 GB/s", "12 %", "1.7 times", "2 times"])

    def test_are_found_across_a_line_break(self):
        self.assertEqual(found("it is 3 times\nas long, 4\nus"), ["3 times", "4 us"])

    def test_are_tables_by_hand_with_a_unit_among_their_titles(self):
        self.assertEqual(found("| n | us |\n|---|---|\n| 1 | 2.5 |\n"), ["a table of measurements"])
        self.assertEqual(found("| n | what |\n|---|---|\n| 1 | 2.5 |\n"), [])

    def test_are_not_sizes_and_counts(self):
        self.assertEqual(found("4 KB over 8 GPUs, 128^3 cells, version 4.1.4, twice the 10 users"), [])

    def test_are_not_what_comes_from_records_or_is_code(self):
        self.assertEqual(found("<!-- number a -->3 us<!-- end --> `4 us` <!-- table b -->\n| 5 us |\n<!-- end -->\n    6 us\n"
                               "```\n7 us\n```\n"), [])

    def test_may_follow_what_comes_from_records(self):
        self.assertEqual(found("<!-- number a -->3 us<!-- end --> and 5 us\n"), ["5 us"])

    def test_a_lone_backtick_hides_nothing(self):
        self.assertEqual(found("a ` here\n\nand 3 us\n\nand ` there"), ["3 us"])


class Problems(unittest.TestCase):
    def problems(self, text, allowed):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "README.md").write_text(text)
            entries = [{"page": "README.md", "text": wanted, "why": "a threshold"} for wanted in allowed]
            return list(prose_numbers.problems(pathlib.Path(folder), entries))

    def test_may_be_allowed_where_they_stand(self):
        self.assertEqual(self.problems("unless they\nfall by 3 %\n", ["unless they fall by 3 %"]), [])
        self.assertEqual(len(self.problems("they fall by 3 %, unless they fall by 3 %\n", ["unless they fall by 3 %"])), 1)

    def test_that_are_allowed_must_be_there(self):
        self.assertEqual(self.problems("nothing\n", ["by 3 %"]), ["tables.toml: nothing in README.md needs to be allowed 'by 3 %'"])


if __name__ == "__main__":
    unittest.main()
