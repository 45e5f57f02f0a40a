extension LivePage {
    static let style = #"""
        :root { --back: #f6f7f9; --panel: #fff; --text: #1b1f24; --faint: #5c6670; --line: #d9dde2; --mark: #0b63ce;
          --good: #1a7f37; --bad: #c62828; --soft: #e8f0fb; --row: 48px; }
        @media (prefers-color-scheme: dark) {
          :root { --back: #14171b; --panel: #1d2126; --text: #e4e7ea; --faint: #9aa4ae; --line: #333a42; --mark: #6cb0ff;
            --good: #57d17a; --bad: #ff7b72; --soft: #22303f; }
        }
        * { box-sizing: border-box; }
        html, body { height: 100%; margin: 0; }
        body { display: flex; flex-direction: column; background: var(--back); color: var(--text);
          font: 15px/1.35 system-ui, sans-serif; overflow: hidden; }
        header { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 14px; padding: 10px 16px; background: var(--panel);
          border-bottom: 1px solid var(--line); }
        h1 { font-size: 18px; margin: 0; overflow-wrap: anywhere; }
        h2 { font-size: 13px; margin: 14px 0 4px; color: var(--faint); }
        .space { flex: 1; }
        .faint { color: var(--faint); }
        .good { color: var(--good); }
        .bad { color: var(--bad); }
        input, select, button { font: inherit; color: inherit; background: var(--back); border: 1px solid var(--line);
          border-radius: 6px; padding: 5px 9px; min-height: 34px; }
        button { cursor: pointer; }
        :focus-visible { outline: 2px solid var(--mark); outline-offset: 1px; }
        #search { width: 240px; max-width: 100%; }
        #parts { display: flex; gap: 10px; padding: 10px 16px; overflow-x: auto; flex: none; }
        .card { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: 7px 12px; min-width: 170px;
          flex: none; max-width: 320px; }
        .card b { display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        .card span { display: block; font-size: 13px; color: var(--faint); }
        .card .bad { color: var(--bad); }
        .card .good { color: var(--good); }
        main { flex: 1; display: flex; min-height: 0; border-top: 1px solid var(--line); }
        #list { flex: 1; overflow-y: auto; position: relative; background: var(--panel); contain: strict; }
        #height { width: 1px; }
        .row { position: absolute; left: 0; right: 0; top: 0; height: var(--row); display: grid; align-items: center; gap: 0 14px;
          padding: 0 16px; grid-template: "signal name values seen" / 205px minmax(120px, 1fr) minmax(120px, 1.7fr) 64px;
          border-bottom: 1px solid var(--line); cursor: pointer; contain: strict; }
        .row:hover { background: var(--back); }
        .row[aria-selected=true] { background: var(--soft); box-shadow: inset 3px 0 var(--mark); }
        .signal { grid-area: signal; display: flex; align-items: center; gap: 8px; white-space: nowrap;
          font-variant-numeric: tabular-nums; }
        .signal canvas { width: 120px; height: 30px; }
        .name { grid-area: name; min-width: 0; }
        .name div, .values { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; unicode-bidi: isolate; }
        .name .faint, .seen { font-size: 12px; }
        .values { grid-area: values; }
        .seen { grid-area: seen; text-align: right; font-variant-numeric: tabular-nums; }
        .silent { opacity: .55; }
        #empty { padding: 40px 16px; text-align: center; }
        #details { width: 430px; overflow-y: auto; background: var(--panel); border-left: 1px solid var(--line); padding: 12px 16px;
          overflow-wrap: anywhere; }
        #details[hidden] { display: none; }
        #details .top { display: flex; align-items: start; gap: 8px; }
        #details canvas { width: 100%; height: 90px; display: block; }
        dl { display: grid; grid-template-columns: minmax(90px, auto) 1fr; gap: 2px 12px; margin: 4px 0; }
        dt { color: var(--faint); }
        dd { margin: 0; unicode-bidi: isolate; }
        .octets { font: 12px/1.4 ui-monospace, monospace; }
        ul { list-style: none; margin: 2px 0; padding-left: 14px; border-left: 1px solid var(--line); }
        dialog { border: 1px solid var(--line); border-radius: 10px; background: var(--panel); color: var(--text); max-width: 420px; }
        dialog form { display: grid; gap: 10px; }
        @media (max-width: 700px) {
          :root { --row: 74px; }
          header { padding: 8px 12px; }
          #search { flex: 1 1 150px; width: auto; }
          #parts { padding: 8px 12px; }
          .row { grid-template: "name signal" auto "values values" auto / 1fr 165px; padding: 6px 12px; }
          .seen { display: none; }
          .signal { justify-content: end; }
          .signal canvas { width: 84px; }
          #details { position: fixed; inset: 0; width: 100%; border: 0; z-index: 2; }
        }
        """#
}
