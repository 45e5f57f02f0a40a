/// The parts of the page that do not change.
enum HTMLPage {
    static let head: StaticString = """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width,initial-scale=1">
        <meta name="color-scheme" content="light dark">

        """

    static let body: StaticString = """
        <body>
        <header>
        <h1 id="name"></h1><span id="count" aria-live="polite"></span>
        <input type="search" id="search" placeholder="Search packets: name, address, value…" aria-label="Search packets">
        <div class="kinds" id="kinds" role="group" aria-label="Kinds of packets"></div>
        </header>
        <section id="time" aria-label="Timeline">
        <div class="bar"><b id="range"></b><span class="space"></span><span id="scale"></span>
        <button id="out" aria-label="Zoom out">−</button><button id="in" aria-label="Zoom in">+</button><button id="all">Whole</button></div>
        <canvas id="timeline"></canvas>
        </section>
        <nav id="tabs" role="tablist"></nav>
        <main><div id="view" tabindex="0"><canvas id="chart"></canvas><div id="space"></div></div>
        <section id="overview" aria-label="Overview"></section><aside id="details" aria-label="Packet"></aside></main><div id="tip"></div>

        """
}
