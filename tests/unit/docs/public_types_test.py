#!/usr/bin/env python3
"""The check of public types must see what it is for."""

import pathlib
import tempfile
import unittest

import public_types

HEADER = """
namespace selvage {
namespace detail {
class Plan;
struct Hidden {};
}  // namespace detail

enum class Kind { first, second };

template <int D>
struct Box {
  struct Inner {
    int a = 0;
  };
  [[nodiscard]] int cells() const { return 1; }
};
class Port
    : public Box<1> {
 public:
  class Launch;
};
class Port::Launch {};
}  // namespace selvage
namespace selvage::detail {
class Below {};
}  // namespace selvage::detail
"""

PAGE = """
| `box.hpp` | [`Box`](api/a.html), [`Kind`](api/b.html) | what |
| `error.hpp` | [`Error`](api/c.html) | what |
| `port.hpp` | [`Port`](api/d.html) | for [`Nobody`](api) |

## Machines and placement

| `machine.hpp` | [`Machine`](api/e.html) | what |
"""


class TestPublicTypes(unittest.TestCase):
    def outcome(self, header, page):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "all.hpp").write_text(header)
            classes = pathlib.Path(folder) / "classes.md"
            classes.write_text(page)
            return public_types.main(folder, classes)

    def test_are_those_of_namespaces_that_are_not_detail(self):
        self.assertEqual(set(public_types.public_types(HEADER)), {"Kind", "Box", "Port"})

    def test_stand_in_the_first_cells(self):
        self.assertEqual(public_types.listed(PAGE), {"Box", "Kind", "Error", "Port"})

    def test_and_the_page_agree(self):
        self.assertEqual(self.outcome(HEADER, PAGE), 0)
        self.assertEqual(self.outcome(HEADER.replace("enum class Kind { first, second };", ""), PAGE), 1)
        self.assertEqual(self.outcome(HEADER, PAGE.replace("`Port`", "`Harbour`")), 1)
        self.assertEqual(self.outcome("", ""), 1)

    def test_are_few(self):
        names = [f"T{i}" for i in range(public_types.MOST + 1)]
        header = "namespace selvage {\n" + "".join(f"struct {name} {{}};\n" for name in names) + "}\n"
        rows = "".join(f"| `a.hpp` | [`{name}`](x) | y |\n" for name in names)
        self.assertEqual(self.outcome(header, rows), 1)


if __name__ == "__main__":
    unittest.main()
