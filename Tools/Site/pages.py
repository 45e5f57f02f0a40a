"""What docc has made of each page, as plain HTML: for the index of the search, and for browsers that run no script.

The links of guides become those of the site here, and every link inside the site is checked."""
import glob, html, json, os, re, urllib.parse

from guides import SITE
from libraries import libraries

MODULES = {module.lower(): module for module in libraries()}


def slug(heading):
    """The anchor of a heading as Markdown's readers make it."""
    return re.sub(r'[^\w\- ]', '', heading.lower()).replace(' ', '-')


def inside(value, key):
    """Each dictionary in a document that has the key."""
    stack = [value]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            if key in value:
                yield value
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)


def text_of(value):
    """The words of inline content."""
    return ''.join(part.get('text') or part.get('code') or text_of(part.get('inlineContent', [])) for part in value or [])


class Page:
    """A page: `address` begins with a slash and has no slash at its end."""

    def __init__(self, file, data):
        self.file = file
        self.address = '/' + os.path.relpath(file, data)[:-5]
        with open(file, encoding='utf-8') as opened:
            self.content = json.load(opened)
        metadata = self.content['metadata']
        self.title = metadata.get('title') or metadata.get('category') or 'Jelling'
        self.references = self.content.get('references', {})
        self.links, self.headings = [], [h for h in inside(self.content, 'anchor') if isinstance(h['anchor'], str)]

    @property
    def is_symbol(self):
        return self.content['kind'] == 'symbol' and self.address.count('/') > 2

    @property
    def is_type(self):
        return self.is_symbol and self.address.count('/') == 3

    @property
    def kind(self):
        """What the search can be restricted to: the guides, or one library."""
        part = self.address.split('/')[2].removesuffix('-tutorials')
        return 'Guides' if part == 'jelling' else MODULES.get(part, part)

    @property
    def name(self):
        """The title with what it is a part of, for lists of pages from everywhere."""
        above = (self.content.get('hierarchy', {}).get('paths') or [[]])[0]
        types = [self.references[i]['title'] for i in above[1:] if i in self.references] if self.is_symbol else []
        last = self.title if not types or not self.title.startswith(types[-1] + '.') else self.title[len(types[-1]) + 1:]
        return '.'.join(types[-1:] + [last])

    def anchors(self):
        """The anchors that the renderer gives the page, and those that Markdown's readers give its headings."""
        found, count = {}, {}
        for heading in self.headings:
            name = slug(heading.get('text') or heading.get('title') or '')
            count[name] = count.get(name, -1) + 1
            found[heading['anchor']] = heading['anchor']
            found.setdefault(name + (f'-{count[name]}' if count[name] else ''), heading['anchor'])
        return found

    def resolve_guides(self, site):
        """The links that stood for pages of the site become links to them; what is wrong with them."""
        complaints, renamed = [], {}
        for identifier, reference in list(self.references.items()):
            if reference.get('type') != 'link' or not reference['url'].startswith(SITE):
                continue
            # Behind the number of the link: docc knows one text for each address.
            path, _, anchor = re.sub(r'^/\d+', '', reference['url'][len(SITE):]).partition('#')
            anchor = urllib.parse.unquote(anchor)
            page = site.pages.get(path)
            if not page or anchor and anchor not in page.anchors():
                complaints.append(f'{self.address}: {path}{"#" + anchor if anchor else ""} does not exist')
                continue
            fragment = '#' + page.anchors()[anchor] if anchor else ''
            new = page.content['identifier']['url'] + fragment
            renamed[identifier] = new, reference
            del self.references[identifier]
            kind = 'section' if fragment else 'article'
            self.references[new] = {'identifier': new, 'type': 'section' if fragment else 'topic', 'kind': kind, 'role': 'article',
                                    'title': page.title, 'url': path + fragment, 'abstract': []}
        for part in inside(self.content, 'identifier'):
            if part.get('type') == 'reference' and part['identifier'] in renamed:
                part['identifier'], link = renamed[part['identifier']]
                part |= {'overridingTitle': link['title'], 'overridingTitleInlineContent': link['titleInlineContent']}
        if renamed:
            with open(self.file, 'w', encoding='utf-8') as file:
                json.dump(self.content, file, ensure_ascii=False, separators=(',', ':'))
        return complaints

    # MARK: HTML

    def relative(self, url):
        """An address of the site from the folder in which this page is."""
        return '../' * self.address.count('/') + url[1:]

    def link(self, identifier, words=None):
        reference = self.references.get(identifier)
        if not reference:
            self.links.append(identifier)
        title = words or html.escape((reference or {}).get('title', ''))
        if not reference or 'url' not in reference:
            return title
        url = reference['url']
        if url.startswith('/'):
            self.links.append(url)
            path, mark, anchor = url.partition('#')
            url = self.relative(path + '/index.html' + mark + anchor)
        return f'<a href="{html.escape(url)}">{title or html.escape(reference["url"])}</a>'

    def inline(self, parts):
        return ''.join(map(self.inline_part, parts or []))

    def inline_part(self, part):
        kind = part['type']
        if kind == 'text':
            return html.escape(part['text'])
        if kind == 'codeVoice':
            return f'<code>{html.escape(part["code"])}</code>'
        if kind == 'reference':
            return self.link(part['identifier'], self.inline(part.get('overridingTitleInlineContent')) or html.escape(part.get('overridingTitle', '')))
        if kind == 'image':
            return self.picture(part['identifier'])
        tag = {'emphasis': 'em', 'strong': 'strong'}.get(kind, 'span')
        return f'<{tag}>{self.inline(part.get("inlineContent"))}</{tag}>'

    def picture(self, identifier):
        reference = self.references[identifier]
        url = reference['variants'][0]['url']
        self.links.append(url)
        return f'<img src="{html.escape(self.relative(url))}" alt="{html.escape(reference.get("alt") or "")}">'

    def blocks(self, parts):
        return '\n'.join(map(self.block, parts or []))

    def block(self, part):
        kind = part.get('type')
        if kind == 'paragraph':
            return f'<p>{self.inline(part["inlineContent"])}</p>'
        if kind == 'heading':
            return f'<h{part["level"]} id="{html.escape(part["anchor"])}">{html.escape(part["text"])}</h{part["level"]}>'
        if kind == 'codeListing':
            return f'<pre>{html.escape(chr(10).join(part["code"]))}</pre>'
        if kind in ('unorderedList', 'orderedList'):
            tag = kind[0] + 'l'
            return self.items(tag, (self.blocks(item['content']) for item in part['items']))
        if kind == 'termList':
            return '<dl>' + ''.join(f'<dt>{self.inline(i["term"]["inlineContent"])}</dt><dd>{self.blocks(i["definition"]["content"])}</dd>'
                                    for i in part['items']) + '</dl>'
        if kind == 'table':
            return '<table>' + ''.join('<tr>' + ''.join(self.cell(cell, not number and part.get('header') == 'row') for cell in row) + '</tr>'
                                       for number, row in enumerate(part['rows'])) + '</table>'
        if 'inlineContent' in part:
            return f'<p>{self.inline(part["inlineContent"])}</p>'
        if 'identifier' in part:
            return self.link(part['identifier'])
        # Asides, rows, columns, tabs, steps: what is inside.
        return self.blocks(part.get('content') or part.get('columns') or part.get('tabs') or [])

    @staticmethod
    def items(tag, items):
        return f'<{tag}>{"".join(f"<li>{item}</li>" for item in items)}</{tag}>'

    def cell(self, blocks, is_head):
        tag = 'th' if is_head else 'td'
        return f'<{tag}>{self.blocks(blocks)}</{tag}>'

    def section(self, part):
        """A primary section of a symbol or an article, or a section of a tutorial."""
        kind = part.get('kind')
        if kind == 'declarations':
            return ''.join(f'<pre>{html.escape(text_of(d["tokens"]))}</pre>' for d in part['declarations'][:1])
        if kind == 'parameters':
            return '<dl>' + ''.join(f'<dt>{html.escape(p["name"])}</dt><dd>{self.blocks(p["content"])}</dd>' for p in part['parameters']) + '</dl>'
        if kind == 'tasks':
            return ''.join(f'<h2 id="{html.escape(t["anchor"])}">{html.escape(t["title"])}</h2>'
                           + ''.join(self.blocks(c.get('content')) for c in t['contentSection']) + self.steps(t['stepsSection']) for t in part['tasks'])
        if kind == 'volume':
            return ''.join(f'<h2>{html.escape(c.get("name") or "")}</h2>{self.blocks(c.get("content"))}'
                           + ''.join(f'<p>{self.link(t)}</p>' for t in c['tutorials']) for c in part['chapters'])
        return self.blocks(part.get('content')) if isinstance(part.get('content'), list) else ''

    def steps(self, parts):
        return self.items('ol', (self.blocks(p['content']) + self.blocks(p.get('caption')) if p.get('type') == 'step' else self.block(p)
                                 for p in parts))

    def listed(self):
        """The topics below the page."""
        out = []
        for part in self.content.get('topicSections', []) + self.content.get('seeAlsoSections', []):
            items = (f'{self.link(i)}: {self.inline(self.references.get(i, {}).get("abstract"))}' for i in part['identifiers'])
            out.append(f'<h3>{html.escape(part.get("title") or "Topics")}</h3>{self.items("ul", items)}')
        return ''.join(out)

    def body(self):
        """(what the page says, what it lists)"""
        parts = self.content.get('primaryContentSections', []) + self.content.get('sections', [])
        said = f'<p>{self.inline(self.content.get("abstract"))}</p>' + '\n'.join(map(self.section, parts))
        return said, self.listed()


class Site:
    """All pages of a site in its folder."""

    def __init__(self, folder):
        self.folder, data = folder, os.path.join(folder, 'data')
        read = (Page(file, data) for file in sorted(glob.glob(os.path.join(glob.escape(data), '**', '*.json'), recursive=True)))
        self.pages = {page.address: page for page in read}

    def complaints(self, page):
        """The links of a page that lead nowhere, once its HTML is made; those of docc's own lists as well."""
        # Chapters of tutorials are in the tree of their pages alone.
        above = {name for path in page.content.get('hierarchy', {}).get('paths', []) for name in path}
        urls = {r['url'] for name, r in page.references.items() if r.get('type') in ('topic', 'section') and r.get('url', '').startswith('/')
                and not (name in above and page.address.startswith('/tutorials/'))}
        found = []
        for url in sorted({*page.links, *urls}):
            path, _, anchor = url.partition('#')
            target = self.pages.get(path)
            if target and (not anchor or urllib.parse.unquote(anchor) in target.anchors() or anchor in target.anchors().values()):
                continue
            if not target and os.path.isfile(os.path.join(self.folder, path[1:])):
                continue
            found.append(f'{page.address}: {url} does not exist')
        return found
