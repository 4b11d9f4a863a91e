# Included by scripts/each-alone.sh right after project(): the targets' sources are read, and no code is made of them. Kokkos
# comes precompiled, for tests with GoogleTest, and nothing else: these two are all that a source could forget unnoticed.
set(SELVAGE_SYNTAX_ONLY ON)
add_compile_options(-fsyntax-only -O0 -Werror)
