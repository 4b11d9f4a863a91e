#pragma once

#include "group_link.hpp"
#include "reduction_tree.hpp"

#include <functional>
#include <memory>

namespace selvage::detail {

/// Makes a link for a rank's slots; where it is collective, so is make_tree_group.
using MakeLink = std::function<std::unique_ptr<GroupLink>(const GroupParts&, const LinkShape&)>;

/// Combines values up a tree, so that its root holds all, and shares the result down the same tree. Values of places
/// that follow each other are combined lower ones first.
[[nodiscard]] std::unique_ptr<GroupCollective> make_tree_group(const GroupParts& parts, MakeTree make_tree,
                                                               const MakeLink& make_link);

}  // namespace selvage::detail
