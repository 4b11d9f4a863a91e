#!/usr/bin/env python3
"""The check of floors must see what it is for."""

import pathlib
import tempfile
import unittest

import floors


class Floors(unittest.TestCase):
    def problems(self, files, text="front left\nbase\n"):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "floors.txt").write_text(text)
            for name, content in files.items():
                (root / name).parent.mkdir(exist_ok=True, parents=True)
                (root / name).write_text(content)
            return list(floors.problems(root))

    def test_lets_what_is_below_be_included(self):
        self.assertEqual(self.problems({"front/a.cpp": '#include "base/b.hpp"\n#include "c.hpp"\n', "front/c.hpp": "",
                                        "left/d.cpp": "#include <string>\n", "base/b.hpp": ""}), [])

    def test_sees_an_arrow_upwards(self):
        found = self.problems({"front/a.hpp": "", "left/d.hpp": "", "base/b.cpp": '  #  include "front/a.hpp"\n'})
        self.assertEqual(found, ["base/b.cpp includes front/a.hpp: front is not below base"])

    def test_sees_a_neighbour_and_a_relative_path(self):
        found = self.problems({"front/a.hpp": "", "left/cuda/d.cpp": '#include "../../front/a.hpp"\n', "base/b.hpp": ""})
        self.assertEqual(found, ["left/cuda/d.cpp includes front/a.hpp: front is not below left"])

    def test_sees_a_folder_that_has_no_floor(self):
        found = self.problems({"front/a.hpp": "", "left/d.hpp": "", "cellar/e.hpp": ""})
        self.assertEqual([problem.split(": ")[1] for problem in found],
                         ["base is in floors.txt, but not here", "cellar is not in floors.txt"])


if __name__ == "__main__":
    unittest.main()
