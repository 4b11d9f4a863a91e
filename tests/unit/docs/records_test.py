#!/usr/bin/env python3
"""What a run has finished outlives the end that its time limit made of it."""

import json
import pathlib
import tempfile
import unittest

import records
import table


def entries(name, times):
    """As Google Benchmark writes the statistics of one figure."""
    common = {"name": name, "run_name": f"{name}/iterations:1/manual_time", "run_type": "aggregate", "repetitions": 3,
              "time_unit": "us", "label": "fast", "verified": 1.0}
    values = {f"{contender}, us": value for contender, value in times.items()}
    first = next(iter(times.values()))
    spreads = {key: 0.1 * place for place, key in enumerate(values, 1)}
    return [{**common, "aggregate_name": statistic, "real_time": first, **values} for statistic in ("mean", "median")] + [
        {**common, "aggregate_name": "spread", "real_time": 0.1, **spreads, "verified": 0.0}]


CONTEXT = {"commit": "abc", "hardware": "machine"}
WHOLE = json.dumps({"context": CONTEXT, "benchmarks": entries("a", {"off": 2.0, "on": 1.0}) + entries("b", {"off": 4.0})}, indent=2)


class Records(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "bench.json"

    def read(self, text):
        self.path.write_text(text)
        return records.read(self.path)

    def salvaged(self, text):
        self.path.write_text(text)
        records.salvage(self.path)
        return records.read(self.path)

    def test_name_the_contender_that_the_value_is_of(self):
        first = self.read(WHOLE)[0]
        self.assertEqual((first["first"], first["value"], first["peers"]), ("off", 2.0, {"on": 1.0}))
        self.assertEqual(first["spreads"], {"off": 0.1, "on": 0.2})
        self.assertNotIn("cut_off", first)

    def test_of_a_run_that_was_cut_off_are_kept_as_far_as_they_are_whole(self):
        second = WHOLE.index('"name": "b"')
        last = WHOLE.rindex('"aggregate_name": "spread"')
        for end in (second - 10, second + 5, last, len(WHOLE) - 60):
            kept = self.salvaged(WHOLE[:end])
            self.assertEqual([record["name"] for record in kept], ["a"], end)
            self.assertEqual(kept[0], {**self.read(WHOLE)[0], "cut_off": "cut off by a time limit: figures that follow are missing"})

    def test_of_a_run_that_was_cut_off_say_so_on_their_page(self):
        self.salvaged(WHOLE[:-60])
        self.assertIn("commit abc (cut off by a time limit", table.page([self.path]))

    def test_of_a_run_that_finished_nothing_are_none(self):
        for text in ("", WHOLE[:30], WHOLE[:WHOLE.index('"aggregate_name": "spread"')]):
            self.path.write_text(text)
            records.salvage(self.path)
            self.assertFalse(self.path.exists())


if __name__ == "__main__":
    unittest.main()
