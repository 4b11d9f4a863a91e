#!/usr/bin/env python3
"""The campaign must see what is wrong: programs that do what none may do, and files that are damaged."""

import pathlib
import random
import struct
import tempfile
import time
import unittest

import checks
import mutations
import processes


class ChecksOfPrograms(unittest.TestCase):
    def problems(self, script):
        with tempfile.TemporaryDirectory() as folder:
            job = processes.Job(["bash", "-c", script], pathlib.Path(folder), {})
            self.assertTrue(job.wait(60))
            found = list(checks.exit_problems(job, "md", (0, 1, 2, 3)))
            job.end()
            return found

    def test_lets_one_message_pass(self):
        self.assertEqual(self.problems("echo 'md: error: no' >&2; exit 2"), [])

    def test_sees_a_signal(self):
        self.assertIn("exit code 139", self.problems("ulimit -c 0; kill -SEGV $$"))

    def test_sees_silence_and_a_second_message(self):
        self.assertEqual(self.problems("exit 1"), ["0 messages for exit code 1"])
        self.assertEqual(self.problems("echo 'md: error: a' >&2; echo 'md: error: b' >&2; exit 1"), ["2 messages for exit code 1"])

    def test_sees_control_characters_and_terminate(self):
        self.assertIn("control characters in the output: 0x1b", self.problems(r"printf 'md: error: \x1b\n' >&2; exit 2"))
        self.assertIn("'terminate called' in the output", self.problems("echo 'terminate called after' >&2; exit 0"))

    def test_sees_and_ends_what_is_left(self):
        with tempfile.TemporaryDirectory() as folder:
            job = processes.Job(["bash", "-c", "setsid sleep 1000 & disown; exit 0"], pathlib.Path(folder), {})
            self.assertTrue(job.wait(60))
            limit = time.monotonic() + 60
            # It shows nothing for a moment while it executes `sleep`.
            while not (left := job.left_behind(0)) and time.monotonic() < limit:
                time.sleep(processes.POLL_S)
            self.assertEqual(len(left), 1)
            job.end()
            self.assertEqual(job.processes(), [])


class ChecksOfTexts(unittest.TestCase):
    def test_names_the_late_rank_and_not_the_speaker(self):
        message = "md: error: waited 2000 ms for rank 2 [timeout, rank 1]"
        self.assertTrue(checks.names_rank(message, 2))
        self.assertFalse(checks.names_rank(message, 1))
        self.assertFalse(checks.names_rank("md: error: waited for rank 12", 1))
        self.assertTrue(checks.names_rank("md: error: waited for ranks 0, 3 and 5", 3))


class ChecksOfFiles(unittest.TestCase):
    def test_sees_a_file_that_lost_its_end(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "a.h5"
            path.write_bytes(checks.HDF5_SIGNATURE + bytes([2, 8, 8, 0]) + struct.pack("<QQQQ", 0, 2**64 - 1, 4096, 48) + bytes(100))
            self.assertIsNotNone(checks.hdf5_problem(path))
            path.write_bytes(b"not HDF5")
            self.assertIsNotNone(checks.hdf5_problem(path))


class Mutations(unittest.TestCase):
    def test_are_the_same_for_the_same_seed(self):
        text = b"a = 1\nb = [2, 3]\n"
        changed = [mutations.mutated(random.Random(seed), text, is_text) for seed in range(500) for is_text in (False, True)]
        again = [mutations.mutated(random.Random(seed), text, is_text) for seed in range(500) for is_text in (False, True)]
        self.assertEqual(changed, again)
        self.assertGreater(len(set(changed)), 400)

    def test_damage_what_is_damaged(self):
        for seed in range(2000):
            argument = "mpi_staged"
            for _ in range(3):
                argument = mutations.mutated_argument(random.Random(seed), argument)


if __name__ == "__main__":
    unittest.main()
