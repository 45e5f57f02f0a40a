"""What the generators of this folder share: the files that they write, or compare."""
import os, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def main(doc, files, update=None):
    """`files()` gives texts by their paths; `update` makes the tables again, in a folder for what it downloads."""
    arguments = sys.argv[1:]
    if update and arguments[:1] == ['--update']:
        with tempfile.TemporaryDirectory() as folder:
            update(arguments[2] if arguments[1:2] == ['--from'] else folder)
        arguments = []
    if arguments not in ([], ['--check']):
        print(doc, file=sys.stderr)
        return 2
    made, wrong = files(), 0
    for path, text in made.items():
        if arguments:
            with open(os.path.join(ROOT, path), encoding='utf-8') as f:
                if f.read() != text:
                    wrong += 1
                    print(f'failed: {path} is not what the tables give; run {doc.partition(":")[0]}')
        else:
            os.makedirs(os.path.dirname(os.path.join(ROOT, path)), exist_ok=True)
            with open(os.path.join(ROOT, path), 'w', encoding='utf-8') as f:
                f.write(text)
    if arguments:
        print(f'{len(made) - wrong} passed, {wrong} failed')
    return 1 if wrong else 0
