"""Types of one integer with named values or bits."""
import re

from swift import MARK, WIDTH, comment
from table import Wrong, load

TYPE_KEYS = {'name', 'folder', 'doc', 'form', 'raw', 'protocols', 'values'}
# The number, the constant, what it is called in a log, and the doc comment.
VALUE = re.compile(r'(0x[\dA-F_]+|\d+|1 << \d+) (`?\w+`?)(?: \(([^:]*)\))?(?:: (.*))?$')


def constant_type(entry):
    where, name, form = f'constants.toml: {entry["name"]}', entry['name'], entry.get('form', 'value')
    if set(entry) - TYPE_KEYS:
        raise Wrong(f'{where}: unknown keys {sorted(set(entry) - TYPE_KEYS)}')
    raw = entry.get('raw', 'UInt8')
    first = {'value': 'RawRepresentable', 'bits': 'OptionSet', 'enum': raw}[form]
    out = comment(entry['doc'])
    out.append(f'public {"enum" if form == "enum" else "struct"} {name}: '
               f'{", ".join(filter(None, [first, "Hashable", entry.get("protocols"), "Sendable"]))} {{')
    if form != 'enum':
        out += [f'    public var rawValue: {raw}',
                f'    @inlinable public init(rawValue: {raw}) {{ self.rawValue = rawValue }}', '']
    meanings = []
    for value in entry['values']:
        parts = VALUE.match(value)
        if not parts:
            raise Wrong(f'{where}: {value} is not "NUMBER name (meaning): doc"')
        number, constant, meaning, doc = parts.groups()
        if name.endswith(re.sub('.*(?=[A-Z])', '', constant)) and form != 'enum' and constant != constant.lower():
            out.append('    // swift-format-ignore: DontRepeatTypeInStaticProperties')
        out += comment(doc, 4) if doc else []
        out.append(f'    case {constant} = {number}' if form == 'enum' else
                   f'    public static let {constant} = {name}(rawValue: {number})')
        if meaning:
            line = f'        case .{constant}: "{meaning}"'
            meanings += [line] if len(line) <= WIDTH else [f'        case .{constant}:', f'            "{meaning}"']
    if meanings:
        out += ['', '    /// What the value is called in logs and errors; `nil` if it has no name.', '    var meaning: String? {',
                '        switch self {', *meanings, '        default: nil', '        }', '    }']
    return MARK.format('constants.toml') + '\n'.join([*out, '}']) + '\n'


def files():
    """The generated files: path in BLEPackets, and text."""
    return {f'{entry["folder"]}/{entry["name"]}.swift': constant_type(entry) for entry in load('constants.toml')['type']}
