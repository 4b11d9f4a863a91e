# Included by scripts/each-alone.sh right after project(): the targets' sources are read, and no code is made of them.
add_compile_options(-fsyntax-only -O0 -Werror)
