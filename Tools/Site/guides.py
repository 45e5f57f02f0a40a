"""The guides as articles of a catalogue that docc reads, beside the libraries.

README.md is the first page; Documentation/README.md names the others, and its headings group them."""
import os, re, shutil

from libraries import ROOT

# Stands for the site while docc works: `pages` makes the links of the site of it.
SITE = 'https://site.invalid'
HOME = '/documentation/jelling'
LINK = re.compile(r'(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)')
RESERVED = re.compile(r'## (Topics|See Also)\s*$')


def name_of(path):
    """What an article is called in its catalogue, where each name is there once."""
    name = os.path.basename(path)[:-3]
    if 'Requirements' in path:
        return 'Requirements-' + name
    return name if '/' in path else name.capitalize()


def without_links(lines):
    """Takes the links out of the first paragraph: docc would drop their words too."""
    for number, line in enumerate(lines[1:], 1):
        if not line.strip() and lines[number - 1].strip() and number > 2:
            return
        lines[number] = LINK.sub(lambda found: found[0] if found[1] else found[2], line)


class Guides:
    """Which files become pages, and what is wrong with their links."""

    def __init__(self):
        self.groups, self.complaints, self.links = {}, [], 0
        self.pages = {'README.md': 'Jelling', 'Documentation/README.md': 'Guides'}
        heading = None
        with open(os.path.join(ROOT, 'Documentation', 'README.md'), encoding='utf-8') as file:
            for line in file:
                if line.startswith('## '):
                    heading = line[3:].strip()
                for _, _, target in LINK.findall(line):
                    path = os.path.normpath(os.path.join('Documentation', target.partition('#')[0]))
                    if heading and path.endswith('.md') and path not in self.pages:
                        self.pages[path] = name_of(path)
                        self.groups.setdefault(heading, []).append(path)
        written = {os.path.relpath(os.path.join(folder, name), ROOT) for folder, _, names in os.walk(os.path.join(ROOT, 'Documentation'))
                   for name in names if name.endswith('.md')}
        self.complaints += [f'{path}: Documentation/README.md does not name it' for path in sorted(written - set(self.pages))]

    def address(self, path):
        """Where a file of the repository stands in the site, if it does."""
        if path in self.pages:
            return HOME if self.pages[path] == 'Jelling' else f'{HOME}/{self.pages[path].lower()}'
        article = re.fullmatch(r'Sources/(\w+)/\1\.docc/(\w+)\.md', path)
        if article:
            module, name = article[1].lower(), article[2].lower()
            return f'/documentation/{module}' if name == module else f'/documentation/{module}/{name}'
        return None

    def line(self, text, path, number):
        """A line with its links as docc takes them."""
        def changed(found):
            mark, words, target = found.groups()
            words = LINK.sub(changed, words)
            if re.match(r'\w+:', target):
                return f'{mark}[{words}]({target})'
            file, _, anchor = target.partition('#')
            wanted = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
            if not os.path.exists(os.path.join(ROOT, wanted)):
                self.complaints.append(f'{path}:{number}: there is no {wanted}')
            if mark:
                return f'![{words}]({os.path.basename(wanted)})'
            address = self.address(wanted)
            # What is only in the repository is named without a link.
            self.links += 1
            return f'[{words}]({SITE}/{self.links}{address}{"#" + anchor if anchor else ""})' if address else words
        return LINK.sub(changed, text)

    def write(self, catalog):
        """Writes the catalogue."""
        os.makedirs(catalog)
        for path, name in self.pages.items():
            lines, is_code = [], False
            with open(os.path.join(ROOT, path), encoding='utf-8') as file:
                for number, line in enumerate(file, 1):
                    if line.lstrip().startswith('```'):
                        is_code = not is_code
                    elif not is_code:
                        if RESERVED.match(line):
                            self.complaints.append(f'{path}:{number}: docc gives this heading a meaning of its own')
                        line = self.line(line, path, number)
                    lines.append(line)
            without_links(lines)
            if name == 'Jelling':
                lines += ['\n## Topics\n']
                for heading, paths in self.groups.items():
                    first = ['Documentation/README.md'] if heading == 'Requirements' else []
                    lines += [f'\n### {heading}\n\n', *(f'- <doc:{self.pages[p]}>\n' for p in first + paths)]
                lines.insert(1, '\n@Metadata {\n    @TechnologyRoot\n}\n')
            with open(os.path.join(catalog, name + '.md'), 'w', encoding='utf-8') as file:
                file.writelines(lines)
        pictures = os.path.join(ROOT, 'Documentation', 'Pictures')
        for name in os.listdir(pictures):
            shutil.copy(os.path.join(pictures, name), catalog)
