#!/usr/bin/env bash
# The documentation as a site, from the pages in docs/, the READMEs and the comments of the public headers.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
  cat <<EOT
usage: scripts/site.sh

Writes the site to build/site: open build/site/index.html, which needs no server. Warnings of Doxygen and mkdocs are errors: links
and anchors that lead nowhere, sections of examples that don't exist, comments that Doxygen can't read. So are public types without a
comment, and options, variables and messages of which a page tells and that no program has. Installs both once, mkdocs into
SELVAGE_DEPS_DIR (~/.cache/selvage).
EOT
}

# Public: what include/ folders hold, but for detail/.
reference() {
  local includes=(lib/*/include lib/*/c/include lib/topo/simulation/include)
  rm -rf build/site-api
  mkdir -p build/site-api
  doxygen - <<EOT
$(cat scripts/site/Doxyfile)
OUTPUT_DIRECTORY = build/site-api
INPUT = scripts/site/main.dox ${includes[*]}
STRIP_FROM_PATH = ${includes[*]}
STRIP_FROM_INC_PATH = ${includes[*]}
EOT
  "$python" scripts/site/undocumented.py build/site-api/xml
}

claims() { "$python" scripts/site/claims.py; }

# Not --quiet, which keeps warnings from being counted.
pages() { logged build/site.log "$python" -m mkdocs build --clean --strict; }

take_help_alone "$@"
cd "$repository"
python=$(scripts/deps.sh --site)
step "reference" reference
step "claims" claims
step "pages" pages
echo "The site: $repository/build/site/index.html"
