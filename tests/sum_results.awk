# Sums test results into one line, `N passed, N failed, N skipped`; exits 1 if anything failed. Input: GoogleTest's lists of
# cases (cases/PROGRAM.xml, as 1.12 writes them), then ctest's list of programs (programs.xml, as 3.25 writes it). A line
# for each reason to skip precedes it: `skipped 16 of PROGRAM: REASON`.
function attribute(name) {
  if (!match($0, " " name "=\"[^\"]*\"")) return ""
  return substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 4)
}
function program_of(file) {
  sub(/.*\//, "", file)
  sub(/(_[0-9]+)?\.xml$/, "", file)
  return file
}
function finish(program, outcome) {
  if (outcome == "run") { if (!(program in listed)) passed++ }
  else if (outcome == "skip") { if (!(program in listed)) { skipped++; reasons[program ": " (why != "" ? why : "the whole program")]++ } }
  else if (!case_failures[program]) { failed++; broken = broken " " program }
}
FILENAME ~ /\/cases\// && /^  <testsuite name=/ {
  program = program_of(FILENAME)
  listed[program] = 1
  failures = attribute("failures") + attribute("errors")
  skips = attribute("skipped") + attribute("disabled")
  failed += failures; skipped += skips; passed += attribute("tests") - failures - skips
  case_failures[program] += failures
}
FILENAME ~ /\/cases\// && /^      <skipped message=/ {
  reason = attribute("message")
  sub(/^[^&]*&#x0A;/, "", reason)  # file and line
  gsub(/&#x0A;/, " ", reason)
  reasons[program_of(FILENAME) ": " reason]++
}
FILENAME ~ /\/cases\// && /^    <testcase .* result="suppressed"/ { reasons[program_of(FILENAME) ": disabled, " attribute("name")]++ }
FILENAME ~ /programs\.xml$/ && /^\t<testcase name=/ { program = attribute("name"); outcome = attribute("status"); why = "" }
# A script that skips itself prints "skipped: REASON".
FILENAME ~ /programs\.xml$/ && /skipped: / { why = $0; sub(/.*skipped: /, "", why); sub(/<\/system-out>.*/, "", why) }
# "notrun" is a skip only if the test said so itself; a program that is not there is a failure.
FILENAME ~ /programs\.xml$/ && /^\t\t<skipped message="SKIP_/ { outcome = "skip" }
FILENAME ~ /programs\.xml$/ && /^\t<\/testcase>/ { finish(program, outcome == "disabled" ? "skip" : outcome) }
END {
  if (broken != "") print "failed without a list of failed cases:" broken
  fflush()
  for (reason in reasons) print "skipped " reasons[reason] " of " reason | "sort"
  close("sort")
  printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
  exit failed > 0
}
