#!/usr/bin/env python3
"""scripts/skipped.py must see each test that is skipped, and each difference from the list."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "scripts"))
import skipped  # noqa: E402

LOG = """1/3 Testing: comm.halo.np1
/a/b_test.cpp:7: Skipped
no neighbours

\x1b[0;32m[  SKIPPED ] \x1b[mHalo.Reaches (0 ms)
[  SKIPPED ] Halo.Says (1 ms)
2/3 Testing: comm.halo.np2
/a/b_test.cpp:7: Skipped
no neighbours

[  SKIPPED ] Halo.Reaches (0 ms)
3/3 Testing: hosts.apps
skipped: no two hosts can be made: namespaces are forbidden here
"""
REACHES = "Halo.Reaches: no neighbours [comm.halo.np1, comm.halo.np2]"
SAYS = "Halo.Says: no reason given [comm.halo.np1]"
HOSTS = "hosts.apps: no two hosts can be made: namespaces are forbidden here"


class Skipped(unittest.TestCase):
    def listing(self):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "log"
            log.write_text(LOG)
            return skipped.listing([log])

    def differences(self, *expected):
        return [line for line in skipped.differences(expected, self.listing()) if line[:3] not in ("---", "+++") and line[0] != "@"]

    def test_lists_tests_with_their_reasons_and_runs(self):
        self.assertEqual(self.listing(), [REACHES, SAYS, HOSTS])

    def test_agrees_with_the_same_list(self):
        self.assertEqual(self.differences("# why", "", REACHES, SAYS, HOSTS), [])

    def test_sees_what_is_skipped_anew_and_what_no_longer_is(self):
        self.assertEqual(self.differences(REACHES, HOSTS), ["+" + SAYS])
        self.assertEqual(self.differences(REACHES, SAYS, HOSTS, "more: of it"), ["-more: of it"])

    def test_accepts_what_only_some_machines_skip_for_its_reason_alone(self):
        self.assertEqual(self.differences(REACHES, SAYS, "perhaps hosts.*: * forbidden here", "perhaps other: reason"), [])
        self.assertEqual(self.differences(REACHES, SAYS, "perhaps hosts.*: there is no ip"), ["+" + HOSTS])


if __name__ == "__main__":
    unittest.main()
