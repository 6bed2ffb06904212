/* The head of report.html. */
#include "report/page.h"
#include "report/words.h"

/* Colours stand once, as variables; figures draw their ink in the colour of the text. */
static const char style[] =
    ":root{--ink:#1d2129;--paper:#fff;--card:#f5f6f8;--line:#d5d9e0;--soft:#5b6472;--good:#0a7a52;--bad:#b3400a}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e4e7ec;--paper:#14171c;--card:#1d2128;--line:#363c47;"
    "--soft:#a3acba;--good:#4cc795;--bad:#ff9a5c}}\n"
    "*{box-sizing:border-box}\n"
    "html{color-scheme:light dark}\n"
    "body{margin:0 auto;padding:16px;max-width:1440px;background:var(--paper);color:var(--ink);"
    "font:16px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif;overflow-wrap:anywhere}\n"
    "h1{font-size:1.5rem;line-height:1.25;margin:.2em 0 .6em}\n"
    "h2{font-size:1.2rem;margin:1.8em 0 .2em}\n"
    "p{margin:.3em 0 .8em;max-width:46em}\n"
    ".about,.note,footer{color:var(--soft);font-size:.9rem}\n"
    ".verdict{padding:12px 16px;border-left:6px solid;border-radius:4px;background:var(--card)}\n"
    ".verdict.good{border-color:var(--good)}.verdict.bad{border-color:var(--bad)}\n"
    ".verdict strong{font-size:1.1rem;display:block}\n"
    ".verdict.good strong{color:var(--good)}.verdict.bad strong{color:var(--bad)}\n"
    ".verdict ul{margin:.5em 0 0;padding-left:1.2em}.verdict p{margin:.5em 0 0}\n"
    ".numbers{display:grid;grid-template-columns:repeat(auto-fill,minmax(148px,1fr));gap:8px;margin:16px 0}\n"
    ".numbers div{background:var(--card);border-radius:4px;padding:8px 12px}\n"
    ".numbers dt{color:var(--soft);font-size:.8rem;line-height:1.3}\n"
    ".numbers dd{margin:0;font-size:1.15rem;font-variant-numeric:tabular-nums}\n"
    ".numbers small{display:block;color:var(--soft);font-size:.75rem;line-height:1.3}\n"
    ".box{overflow-x:auto;border:1px solid var(--line);border-radius:4px;max-height:80vh;width:fit-content;"
    "max-width:100%}\n"
    "table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums;overflow-wrap:normal}\n"
    ".box table{min-width:100%}\n"
    "th,td{padding:4px 10px;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}\n"
    "thead th{position:sticky;top:0;background:var(--card);z-index:1}\n"
    "tbody th{text-align:left;font-weight:600;position:sticky;left:0;background:var(--paper);max-width:40vw;"
    "overflow:hidden;text-overflow:ellipsis}\n"
    "@media(max-width:600px){tbody th{white-space:normal}}\n"
    "thead th:first-child{text-align:left;left:0;z-index:2}\n"
    "td.bad{color:var(--bad);font-weight:600}\n"
    ".sections{display:flex;flex-wrap:wrap;gap:0 24px}\n"
    ".sections section{width:100%;min-width:0}\n"
    "@media(min-width:1280px){.sections .w1{width:calc(25% - 18px)}.sections .w2{width:calc(50% - 12px)}"
    ".sections .w3{width:calc(75% - 6px)}}\n"
    ".panels{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,300px),1fr));gap:12px}\n"
    ".panels.rows{grid-template-columns:repeat(auto-fill,minmax(max(min(100%,300px),"
    "(100% - 12px*(var(--columns) - 1))/var(--columns)),1fr))}\n"
    "figure{margin:0;min-width:0}\n"
    "svg{display:block;width:100%;height:auto;max-width:420px}\n"
    ".settings td,.settings th{white-space:normal;text-align:left;overflow-wrap:anywhere;position:static;"
    "max-width:none}\n.box .settings{min-width:0}\n"
    "footer{margin-top:2.5em;border-top:1px solid var(--line);padding-top:8px}\n"
    "@media print{:root{--ink:#000;--paper:#fff;--card:#f2f2f2;--line:#bbb;--soft:#444;--good:#0a7a52;--bad:#b3400a}"
    "body{padding:0;font-size:10pt}.box{overflow:visible;max-height:none;border:0}table{font-size:8pt}"
    "th,td{padding:2px 5px}thead th,tbody th{position:static}figure,tr,.numbers div{break-inside:avoid}"
    "h2,.about{break-after:avoid}.note{break-before:avoid}.panels{grid-template-columns:1fr 1fr}"
    ".panels.rows{grid-template-columns:repeat(var(--paper-columns),1fr)}}\n";

void ais_page_begin(const ais_page *page, const char *title) {
    fputs("<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
          "<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
          "<title>",
          page->file);
    ais_html_text(page->file, title);
    fprintf(page->file, "</title>\n<style>\n%s</style>\n</head>\n<body>\n", style);
}
