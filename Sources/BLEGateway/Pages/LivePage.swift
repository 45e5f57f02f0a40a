/// The page that shows what the gateway does while it does it. It is one file, and asks nobody but the gateway.
public enum LivePage {
    /// - Parameter nonce: a text that nobody can guess; the page's policy allows scripts and styles with it alone.
    public static func text(nonce: String) -> String {
        let parts = [head, style, body, script, end].joined(separator: "\n").split(separator: "NONCE")
        return parts.joined(separator: nonce) + "\n"
    }

    private static let head = #"""
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width,initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>jelling-gateway</title>
        <link rel="icon" href="data:,">
        <style nonce="NONCE">
        """#

    private static let body = #"""
        </style>
        </head>
        <body>
        <header>
        <h1 id="title">jelling-gateway</h1><span id="state" role="status">connecting …</span><span class="space"></span>
        <span id="count" class="faint" aria-live="polite"></span>
        <input type="search" id="search" placeholder="Name, address, value  ( / )" aria-label="Search devices">
        <select id="order" aria-label="Order"><option value="name">by name</option><option value="signal">by signal</option>
        <option value="seen">last heard</option></select>
        </header>
        <section id="parts" aria-label="Adapters, queue and sessions" tabindex="0"></section>
        <main>
        <div id="list" role="listbox" tabindex="0" aria-label="Devices: arrows move, Enter opens, Escape closes">
        <div id="height"></div><p id="empty" class="faint" hidden></p></div>
        <aside id="details" aria-label="Device" hidden></aside>
        </main>
        <dialog id="ask"><form method="dialog"><label for="token" id="why"></label>
        <input type="password" id="token" autocomplete="off"><button>Use</button></form></dialog>
        <script nonce="NONCE">
        """#

    private static let end = """
        </script>
        </body>
        </html>
        """
}
