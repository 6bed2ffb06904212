#!/usr/bin/env bash
# docs.sh BUILD: the pages of docs/ and the reference, made from headers, docstrings and --help, as one site in
# BUILD/docs/html. Needs doxygen, a BUILD with the command, and PyPI for Sphinx. Warnings (a link or a reference that
# leads nowhere, a comment that cannot be read) are errors. Exit code 77: the packages cannot be installed here.
set -eu
cd "$(dirname "$0")/.."
build=$(cd "${1:-build}" && pwd)
site=$build/docs
source=$site/source
python=$(bash tests/support/venv.sh "$build" docs sphinx myst-parser breathe furo numpy) || exit 77
command -v doxygen >/dev/null || { echo "docs.sh: doxygen is missing: bash scripts/packages.sh docs" >&2; exit 77; }
rm -rf "$source"
mkdir -p "$source/reference/headers"
cp -r docs examples include data README.md CONTRIBUTING.md CHANGELOG.md docs/site/conf.py docs/site/index.md "$source"
rm -r "$source/docs/site"
mkdir -p "$source/bench" && cp -r bench/c_file "$source/bench" # a page links to it
rm -rf "$source"/examples/__pycache__

{
    cat docs/site/Doxyfile
    echo "INPUT = include/aisampler"
    echo "FILTER_PATTERNS = \"*.h=python3 docs/site/comments.py\""
    echo "OUTPUT_DIRECTORY = $source"
} | doxygen -

# A page for each header, in the order in which aisampler.h lists them.
headers=$(grep -oE '^ \*     [a-z]+\.h' include/aisampler/aisampler.h | grep -oE '[a-z]+\.h')
{
    printf 'Headers\n=======\n\nIn the order in which data flows; :doc:`run.h <headers/run>` is where to start.\n\n.. toctree::\n   :maxdepth: 1\n\n'
    for header in $headers; do printf '   headers/%s\n' "${header%.h}"; done
} >"$source/reference/headers.rst"
for header in $headers; do
    printf '%s\n%s\n\n.. doxygenfile:: %s\n' "$header" "${header//?/=}" "$header" >"$source/reference/headers/${header%.h}.rst"
done

cat >"$source/reference/python.rst" <<'RST'
Python
======

.. automodule:: aisampler

.. autofunction:: aisampler.sample
.. autoclass:: aisampler.Result()
   :members:
.. autoclass:: aisampler.Summary()
.. autoclass:: aisampler.Evaluations()
   :members:
.. autoclass:: aisampler.Report()
   :members:
.. autoclass:: aisampler.Kernel()
   :members:
.. autofunction:: aisampler.load_kernel
.. autoexception:: aisampler.DensityError
.. autoexception:: aisampler.Error
RST

{
    printf 'Options of the command\n======================\n\n'
    for name in run train sample compare diagnose plot reproduce bench targets; do
        printf '%s\n%s\n\n.. code-block:: none\n\n' "$name" "${name//?/-}"
        "$build/aisampler" $name --help | sed 's/^/    /'
        printf '\n'
    done
} >"$source/reference/help.rst"

AISAMPLER_LIBRARY=$build/libaisampler.so PYTHONPATH=python PYTHONDONTWRITEBYTECODE=1 \
    "$python" -m sphinx -q -W --keep-going -j auto -b html -d "$site/doctrees" "$source" "$site/html"
echo "$site/html/index.html"
