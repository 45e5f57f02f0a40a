"""Archives as the kernel unpacks them (`newc`), written without root, and the same octets from the same files."""
import os, stat


class Archive:
    def __init__(self):
        self.entries = {}

    def add(self, path, mode, content=b'', device=(0, 0)):
        """`path` without a slash at its beginning; what is there already is replaced."""
        self.entries[path] = (mode, content, device)
        parent = os.path.dirname(path)
        while parent and parent not in self.entries:
            self.entries[parent] = (stat.S_IFDIR | 0o755, b'', (0, 0))
            parent = os.path.dirname(parent)

    def file(self, path, content, mode=0o644):
        self.add(path, stat.S_IFREG | mode, content)

    def link(self, path, target):
        self.add(path, stat.S_IFLNK | 0o777, target.encode())

    def copy(self, path, source):
        with open(source, 'rb') as file:
            self.file(path, file.read(), 0o755 if os.access(source, os.X_OK) else 0o644)

    def tree(self, folder):
        """Everything in a folder."""
        for base, folders, names in os.walk(folder):
            for name in sorted(names + [one for one in folders if os.path.islink(os.path.join(base, one))]):
                source = os.path.join(base, name)
                path = os.path.relpath(source, folder)
                if os.path.islink(source):
                    self.link(path, os.readlink(source))
                else:
                    self.copy(path, source)

    def write(self, output):
        for number, (path, (mode, content, device)) in enumerate(sorted(self.entries.items()), 1):
            self.entry(output, number, path, mode, content, device)
        self.entry(output, 0, 'TRAILER!!!', 0, b'', (0, 0))

    @staticmethod
    def entry(output, number, path, mode, content, device):
        name = path.encode() + b'\0'
        fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(name), 0)
        head = b'070701' + b''.join(b'%08X' % field for field in fields) + name
        output.write(head + bytes(-len(head) % 4))
        output.write(content + bytes(-len(content) % 4))
