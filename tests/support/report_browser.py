"""Looks at a report in headless Chromium, as wide as a phone and as a desk: every figure is visible, nothing
overflows, the console stays empty. A measuring script is put into a copy of the page; what it finds is read from the
page that Chromium dumps. Arguments: report.html..."""
import html
import json
import pathlib
import re
import subprocess
import sys
import tempfile

WIDTHS = (400, 1400)

MEASURE = """<script>
function measure(frame) {
  var page = frame.contentDocument, wide = page.documentElement.clientWidth, out = [];
  page.querySelectorAll('body *').forEach(function (e) {
    if (e.closest('.box') && !e.classList.contains('box')) return; // scrolls in a box of its own
    if (e.closest('svg') && e.tagName.toLowerCase() !== 'svg') return;
    var r = e.getBoundingClientRect();
    if (r.right > wide + 1 || r.left < -1) out.push(e.tagName + '.' + e.className + ' ' + r.left + '..' + r.right);
  });
  var figures = Array.from(page.querySelectorAll('figure')).map(function (f) {
    var s = f.querySelector('svg'), r = s ? s.getBoundingClientRect() : {width: 0, height: 0}, ink = 0;
    if (s) s.querySelectorAll('path, use, image, rect').forEach(function (e) {
      if (e.closest('defs, symbol, clipPath, mask')) return;
      var b = e.getBoundingClientRect();
      if (b.width > 0 || b.height > 0) ink++;
    });
    return {width: r.width, height: r.height, ink: ink};
  });
  var style = frame.contentWindow.getComputedStyle(page.body);
  return {wide: wide, scroll: page.documentElement.scrollWidth, out: out, figures: figures, colour: style.color,
          paper: style.backgroundColor};
}
window.addEventListener('load', function () {
  var result = document.createElement('pre');
  result.id = 'measured';
  result.textContent = JSON.stringify(Array.from(document.querySelectorAll('iframe')).map(measure));
  document.body.replaceChildren(result);
});
</script>"""


def look(text, dark=False):
    """What is measured at every width. Chromium's own window is never narrower than 500: frames are."""
    frames = "".join(f'<iframe style="border:0" width="{width}" height="900" srcdoc="{html.escape(text)}"></iframe>'
                     for width in WIDTHS)
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder, "page.html")
        page.write_text(f'<!DOCTYPE html><meta charset="utf-8">{MEASURE}<body>{frames}</body>', encoding="utf-8")
        command = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                   "--disable-dev-shm-usage", "--enable-logging=stderr", f"--user-data-dir={folder}/profile",
                   "--window-size=1500,1900", "--virtual-time-budget=2000",
                   *(["--blink-settings=preferredColorScheme=0"] if dark else []), "--dump-dom", page.as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    found = re.search(r'<pre id="measured">(.*?)</pre>', done.stdout, re.S)
    assert found, f"Chromium dumped no page: {done.stderr[-2000:]}"
    console = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
    return [dict(measured, console=console) for measured in json.loads(html.unescape(found.group(1)))]


def objections(measured, width):
    found = []
    if measured["wide"] != width:
        found.append(f"the window is {measured['wide']} wide, not {width}")
    if measured["scroll"] > measured["wide"]:
        found.append(f"the page is {measured['scroll']} wide in a window of {measured['wide']}")
    found += [f"overflows: {what}" for what in measured["out"][:5]]
    for i, figure in enumerate(measured["figures"]):
        if figure["width"] < 200 or figure["height"] < 120 or figure["ink"] < 10:
            found.append(f"figure {i} is not visible: {figure}")
    if not measured["figures"]:
        found.append("there are no figures")
    return found + [f"console: {line}" for line in measured["console"]]


failures = []
for path in sys.argv[1:]:
    text = pathlib.Path(path).read_text(encoding="utf-8")
    for width, measured in zip(WIDTHS, look(text)):
        found = objections(measured, width)
        print(f"{path} at {width}: {len(measured['figures'])} figures, {found or 'good'}")
        failures += found
        light = measured

# The look itself must be able to fail: something too wide, a figure of no size, an error. And dark is not light.
spoiled = text.replace("<main>", '<main><div style="width:900px">x</div><figure><svg width="0" height="0"></svg></figure>'
                                 "<script>console.error('spoiled')</script>")
dark = look(spoiled, dark=True)
found = " ".join(objections(dark[0], 400))
for what in ("the page is 9", "not visible", "spoiled"):
    if what not in found:
        failures.append(f"a spoiled page was not noticed ({what}): {found}")
if light["colour"] == dark[0]["colour"] or light["paper"] == dark[0]["paper"]:
    failures.append(f"dark looks like light: {dark[0]['colour']} on {dark[0]['paper']}")
print("\n".join(failures) if failures else "every figure is visible, nothing overflows")
sys.exit(bool(failures))
