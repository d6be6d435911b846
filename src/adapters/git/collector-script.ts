/** Exit code of the collector when it rejects a candidate; `/out/refused` contains one of the reasons below. */
export const REFUSED_EXIT = 3;
/** The reason for which the machine may be the cause as well. */
export const UNREADABLE = 'unreadable';
/** The reason that a path follows, after a space. */
export const UNACCEPTED = 'path';
/** Maximum number of bytes of all names in a tree, ignored files included; 100,000 names take about 8 MB. */
export const MAX_LIST_BYTES = 64_000_000;

/**
 * Runs in a sandbox without network, over an area mounted read-only, with no process of the candidate left.
 *
 *   sh -c COLLECTOR collect candidate|setup BASE MAX_FILES MAX_BYTES [find expressions that skip submodules]
 *
 * in:  /repo                  the candidate's tree; only its plain files and symlinks are looked at, and no `.git`
 *      /run/bridge/upper      what the candidate wrote, as the overlay keeps it
 *      /run/bridge/base       `.git` of the base checkout, which no candidate could write
 *      /run/bridge/in/links   submodules of the base; sorted and NUL-separated, as all lists are
 *      /run/bridge/in/brought paths that setup added; never collected
 *      /run/bridge/in/altered paths of the base that setup changed
 * out: /out/tree, /out/pack   a tree, and a pack of what it has that the base has not
 *      /out/raw, /out/brought for `setup` instead: base files it changed, and files it added that are not ignored;
 *      /out/wrote all that it wrote, folders included; /out/scripted installed packages that run scripts
 *      /out/refused           `files N`, `bytes N`, `path P`, `names` or `unreadable`
 *
 * Which files may have changed comes from the overlay, and their content is read: sizes and times can be forged. What is
 * ignored is decided by the `.gitignore` files of the base alone, checked out by themselves: a candidate cannot hide a
 * file by ignoring it. (`check-ignore` takes a name with a colon in front for a pattern, hence the `./`.) No file of a
 * nested repository is read as configuration, since no `.git` is ever entered.
 */
export const COLLECTOR = String.raw`
set -eu
mode=$1 base=$2 files=$3 bytes=$4
shift 4
w=/tmp/collect in=/run/bridge/in
mkdir -p $w/git/objects/info $w/git/info $w/git/refs $w/rules
cd $w
echo 'ref: refs/heads/none' > git/HEAD
printf '[core]\nrepositoryFormatVersion=0\nbare=false\nfileMode=true\nsymlinks=true\n' > git/config
# Without these, git reads files in the HOME of the candidate, whatever GIT_CONFIG_GLOBAL says.
printf 'excludesFile=/dev/null\nattributesFile=/dev/null\n' >> git/config
echo /run/bridge/base/objects > git/objects/info/alternates
printf '%s' "$ATTRIBUTES" > git/info/attributes

refuse() { printf '%s' "$1" > /out/refused; exit 3; }
# With the exit code of a program that failed. One that a signal ended (xargs: 125) or that could not be started (126,
# 127) says nothing about the files.
unreadable() { [ "$1" -lt 125 ] || [ "$1" = 128 ] || exit "$1"; refuse ${UNREADABLE}; }
list() { find . -mindepth 1 "$@" -name .git -prune -o '(' -type f -o -type l ')' -printf '%P\0'; }
# Lists are copied and sorted in a memory file system: a candidate that leaves millions of files must not fill it.
bounded() { size=$(wc -c < all); [ "$size" -le ${MAX_LIST_BYTES} ] || refuse names; }
# No pipes: what a killed program leaves out would count as absent.
sorted() { sort -z -o all all; }
count() { tr -cd '\0' < "$1" > nuls; wc -c < nuls; }

git read-tree "$base"
git ls-files -z > all
sorted
comm -z -23 all $in/links > tracked
# Git reads .gitattributes files in /repo and would wait for one that is a pipe.
(cd /run/bridge/upper && find . -name .git -prune -o -name .gitattributes -type p -print) > all || unreadable $?
[ ! -s all ] || refuse ${UNREADABLE}
(cd /repo && list "$@") > all || unreadable $?
bounded
sorted
cp all found
(cd /run/bridge/upper && list) > all || unreadable $?
bounded
sort -zu all $in/altered > suspect
comm -z -23 tracked found > gone
comm -z -13 tracked found > all
comm -z -23 all $in/brought > untracked

: > ignored
if [ -s untracked ]; then
  git --glob-pathspecs ls-files -z -- '**/.gitignore' > all
  cd rules
  export GIT_WORK_TREE=$w/rules
  git checkout-index -q -z --stdin < ../all
  sed -z 's|^|./|' ../untracked > ../asked
  git check-ignore -z --stdin --no-index < ../asked > ../all || { code=$?; [ $code = 1 ] || unreadable $code; }
  cd ..
  sed -z 's|^\./||' all > ignored
  sort -z -o ignored ignored
fi
export GIT_WORK_TREE=/repo
comm -z -23 untracked ignored > added
if [ "$mode" = setup ]; then
  cp added /out/brought
  : > added
  cd /run/bridge/upper
  find . -mindepth 1 -name .git -prune -o -printf '%P\0' > $w/all || unreadable $?
  cd $w
  bounded
  cp all /out/wrote
  cd /run/bridge/upper
  find . -name .git -prune -o -type f -name binding.gyp -printf '%P\0' > /out/scripted
  find . -name .git -prune -o -type f -name package.json -printf '%P\0' > $w/all
  xargs -0 -r sh -c 'grep -lzZE "$0" -- "$@" || { code=$?; [ $code -lt 126 ] || kill -KILL $$; [ $code = 1 ]; }' "$SCRIPTED" < $w/all >> /out/scripted || unreadable $?
  cd $w
fi

n=$(count added)
[ "$n" -le "$files" ] || refuse "files $n"

comm -z -23 tracked suspect > calm
git update-index -z --assume-unchanged --stdin < calm
git update-index -q --ignore-submodules --refresh > /dev/null || { code=$?; [ $code = 1 ] || exit $code; }
git diff-files --name-only -z --ignore-submodules=all > all
sorted
comm -z -12 all tracked > both
comm -z -12 both found > changed
cat changed added > written
(cd /repo && xargs -0 -r stat --printf='%s\n' --) < written > sizes || unreadable $?
total=0
while read -r size; do total=$((total + size)); done < sizes
[ "$total" -le "$bytes" ] || refuse "bytes $total"

cd /repo
# Git skips a path that it does not accept, with exit code 0. Since no old entry of a changed file remains, such a path is
# then missing. Messages prove nothing: git also warns about lines of .gitattributes files.
cat $w/gone $w/changed > $w/outdated
git update-index -z --force-remove --stdin < $w/outdated
git update-index -z --add --replace --stdin < $w/written || unreadable $?
cd $w
git ls-files -z > all
sorted
sort -z -o written written
comm -z -13 all written > skipped
head -z -n 1 skipped > first
[ ! -s skipped ] || refuse "${UNACCEPTED} $(tr -d '\0' < first)"
git diff-index --cached --raw -z --no-abbrev --no-renames "$base" > raw
if [ "$mode" = setup ]; then
  cp raw /out/raw
  exit 0
fi
git diff-index --cached --name-only -z --no-renames "$base" > all
n=$(count all)
[ "$n" -le "$files" ] || refuse "files $n"
tree=$(git write-tree)
printf '%s\n^%s^{tree}\n' "$tree" "$base" > wanted
git pack-objects -q --revs --stdout < wanted > /out/pack
printf '%s\n' "$tree" > /out/tree
`;

/**
 * Matches a `package.json` with an install script, for `grep -z -E`. A key with escapes counts as one: a false positive
 * costs a shared layer, a false negative would produce a wrong one.
 */
const SCRIPTED = String.raw`"((pre|post)?install|[^"]*\\u00[^"]*)"[[:space:]]*:`;

/** The collector's environment, except for what the sandbox adds. */
export const collectorEnv = (attributes: string): Readonly<Record<string, string>> => ({
  ATTRIBUTES: attributes,
  SCRIPTED,
  LC_ALL: 'C',
  GIT_DIR: '/tmp/collect/git',
  GIT_INDEX_FILE: '/tmp/collect/index',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
});
