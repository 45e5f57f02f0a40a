"""The documentation of the public libraries, as docc makes it: symbols, comments and the pages of their catalogues."""
import glob, json, os, pathlib, platform, re, shutil, subprocess, sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'Tests', 'System'))
from jelling import programs   # noqa: E402
PASSED_OVER = re.compile(r'\.(MissingParameterDocumentation|ParameterMissingDocumentation)$|^Parameter .* is missing documentation$')


def libraries():
    """The modules of the library products that Package.swift names."""
    with open(os.path.join(ROOT, 'Package.swift'), encoding='utf-8') as f:
        # What an environment variable adds is not built beside bletool.
        products = re.findall(
            r'\.library\(name: "\w+", targets: \[([^]]*)\]', f.read().partition('if Context.environment')[0])
    return list(dict.fromkeys(re.findall(r'\w+', ' '.join(products))))


def presented(source):
    """(explanation, lines that the documentation shows) of a program in Snippets/"""
    explanation, lines, visible = [], [], True
    for line in source.splitlines():
        marker = re.fullmatch(r'\s*// snippet\.(hide|show)', line)
        if marker:
            visible = marker[1] == 'show'
        elif line.startswith('//!') and not lines:
            explanation.append(line[3:].strip())
        elif visible and (lines or line):
            lines.append(line)
    return explanation, lines


def write_snippets(folder):
    """The symbols of Snippets/, as swift-docc-plugin writes them for `swift package generate-documentation`."""
    symbols = []
    for path in sorted(glob.glob(os.path.join(ROOT, 'Snippets', '*.swift'))):
        name = os.path.basename(path)[:-6]
        explanation, lines = presented(pathlib.Path(path).read_text(encoding='utf-8'))
        symbols.append({
            'kind': {'identifier': 'swift.snippet', 'displayName': 'Snippet'},
            'identifier': {'precise': f'$snippet__jelling.{name}', 'interfaceLanguage': 'swift'},
            'names': {'title': name}, 'pathComponents': ['Snippets', name], 'accessLevel': 'public', 'isVirtual': True,
            'docComment': {'lines': [{'text': line} for line in explanation]},
            'snippet': {'language': 'swift', 'lines': lines, 'slices': {}}})
    graph = {'metadata': {'formatVersion': {'major': 0, 'minor': 1, 'patch': 0}, 'generator': 'jelling'},
             'module': {'name': 'jelling', 'platform': {}, 'isVirtual': True}, 'symbols': symbols, 'relationships': []}
    pathlib.Path(os.path.join(folder, 'jelling-snippets.symbols.json')).write_text(json.dumps(graph), encoding='utf-8')


def folder_in_memory():
    """Where there is room, a folder in memory: docc waits for the disk at each of its thousands of small files."""
    memory = '/dev/shm'
    return memory if os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 1 << 30 else None


def convert(catalog, name, archive, *options):
    """Makes a documentation archive; what docc says against it, as lines."""
    diagnostics = archive + '.json'
    run = subprocess.run(
        ['docc', 'convert', *([catalog] if os.path.isdir(catalog) else []), *options, '--fallback-display-name', name,
         '--fallback-bundle-identifier', 'org.jelling.' + name, '--diagnostics-file', diagnostics, '--output-path', archive],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
    try:
        found = json.loads(pathlib.Path(diagnostics).read_text(encoding='utf-8'))['diagnostics']
    except (OSError, ValueError, KeyError):
        return [f'docc ended with {run.returncode} and no diagnostics: ' + (run.stdout + run.stderr).strip()[-1500:]]
    lines = []
    for problem in found:
        if problem['severity'] not in ('error', 'warning') or PASSED_OVER.search(problem['summary']):
            continue
        place = os.path.relpath(re.sub(r'^file://', '', problem.get('source') or name), ROOT)
        start = (problem.get('range') or {}).get('start') or {}
        lines.append(f'{place}:{start.get("line", "?")}: {problem["summary"]}')
    if run.returncode and not lines:
        lines.append(f'docc ended with {run.returncode}: ' + (run.stdout + run.stderr).strip()[-1500:])
    return lines


def document(module, folder, modules=programs.MODULES):
    """Makes MODULE.doccarchive in the folder; the complaints: of the extractor if it fails, otherwise of docc."""
    symbols = os.path.join(folder, module)
    os.mkdir(symbols)
    # Of the C modules below: those that packages bring, and those that SwiftPM writes.
    build = os.path.dirname(modules)
    checkouts = os.path.join(ROOT, '.build', 'static' if os.sep + 'static' + os.sep in build else '', 'checkouts')
    maps = [*glob.glob(os.path.join(checkouts, 'swift-crypto', 'Sources', '*', 'include', 'module.modulemap')),
            *glob.glob(os.path.join(checkouts, 'OpenCombine', 'Sources', '*', 'include', 'module.modulemap')),
            *glob.glob(os.path.join(build, 'COpenCombine*.build', 'module.modulemap'))]
    run = subprocess.run(
        # Without what protocols of the standard library add to each type.
        ['swift', 'symbolgraph-extract', '-skip-synthesized-members', '-module-name', module,
         '-target', f'{platform.machine()}-unknown-linux-gnu', '-I', modules,
         *(a for m in maps for a in ('-Xcc', f'-fmodule-map-file={m}')), '-output-dir', symbols],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
    if run.returncode:
        return [(run.stdout + run.stderr).strip()[-1500:]]
    write_snippets(symbols)
    return convert(os.path.join(ROOT, 'Sources', module, module + '.docc'), module,
                   os.path.join(folder, module + '.doccarchive'), '--additional-symbol-graph-dir', symbols)
