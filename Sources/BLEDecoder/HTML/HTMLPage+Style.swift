extension HTMLPage {
    /// How the page looks, at any width, in light and in dark.
    static let style: StaticString = """
        <style>
        :root{--bg:#fbfbfd;--panel:#fff;--line:#e3e5ec;--text:#1d2230;--dim:#737a8c;--accent:#2f5fdd;--hover:#eef2fd;
        --command:#0a84a5;--event:#a86a00;--att:#2f7d32;--smp:#a02fbf;--l2cap:#4c5aa8;--adv:#7d8797;--link:#5f7f6f;--other:#9a6b4f;--bad:#c62828}
        @media(prefers-color-scheme:dark){:root{--bg:#14161c;--panel:#1b1e26;--line:#2c313d;--text:#e4e7ef;--dim:#8f97a9;
        --accent:#7da2ff;--hover:#242a38;--command:#4fc3e0;--event:#e5b454;--att:#7fca82;--smp:#d68bf0;--l2cap:#9aa7f5;
        --adv:#98a2b3;--link:#8fb3a1;--other:#d0a184;--bad:#ff7b72}}
        *{box-sizing:border-box}
        body{margin:0;height:100vh;display:flex;flex-direction:column;background:var(--bg);color:var(--text);
        font:14px/1.45 system-ui,"Segoe UI",Roboto,"Helvetica Neue","DejaVu Sans",sans-serif}
        header{display:flex;gap:14px;align-items:center;padding:10px 16px;border-bottom:1px solid var(--line);background:var(--panel);flex-wrap:wrap}
        h1{font-size:15px;margin:0;font-weight:650;white-space:nowrap;overflow:hidden;text-overflow:ellipsis;max-width:32vw}
        #count{color:var(--dim);font-variant-numeric:tabular-nums;min-width:11em}
        input[type=search]{flex:1;min-width:300px;max-width:520px;padding:6px 10px;border:1px solid var(--line);border-radius:8px;
        background:var(--bg);color:inherit;font:inherit}
        input[type=search]:focus{outline:2px solid var(--accent);outline-offset:-1px}
        button{font:inherit;color:inherit;background:var(--bg);border:1px solid var(--line);border-radius:8px;padding:4px 10px;cursor:pointer}
        button:hover{background:var(--hover)}
        button[aria-pressed=false]{opacity:.45;text-decoration:line-through}
        .kinds{display:flex;gap:6px;flex-wrap:wrap}
        .kinds button{display:flex;align-items:center;gap:6px;padding:3px 9px;font-size:12.5px}
        .dot{width:9px;height:9px;border-radius:3px;display:inline-block}
        #time{border-bottom:1px solid var(--line);background:var(--panel);padding:6px 16px 8px}
        #time .bar{display:flex;align-items:center;gap:8px;color:var(--dim);font-size:12.5px;margin-bottom:4px}
        #time .bar b{color:var(--text);font-weight:600}
        #time .bar .space{flex:1}
        #timeline{width:100%;display:block;cursor:grab;border-radius:8px;touch-action:none}
        nav{display:flex;gap:4px;padding:8px 16px 0;overflow-x:auto;flex:none;scrollbar-width:thin}
        nav button{white-space:nowrap;flex:none;border-radius:8px 8px 0 0;border-bottom:none;font-size:13px}
        nav button[aria-selected=true]{background:var(--panel);font-weight:600;box-shadow:0 2px 0 var(--panel)}
        main{flex:1;min-height:0;display:flex;margin:0 16px 14px;border:1px solid var(--line);border-radius:0 10px 10px 10px;background:var(--panel);overflow:hidden}
        #view{flex:1;min-width:0;overflow:auto;position:relative;outline:none}
        #space{position:relative}
        .row{position:absolute;left:0;right:0;height:24px;line-height:24px;display:flex;gap:12px;padding:0 14px;cursor:pointer;
        white-space:nowrap;font:12.5px/24px ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace}
        .row:hover{background:var(--hover)}
        .row.on{background:var(--accent);color:#fff}.row.on *{color:#fff!important}
        .row .n{color:var(--dim);width:5.5em;text-align:right;flex:none}
        .row .t{color:var(--dim);width:8.5em;text-align:right;flex:none}
        .row .d{width:1em;flex:none;text-align:center}
        .row .k{width:6em;flex:none;font-weight:600}
        .row .h{overflow:hidden;text-overflow:ellipsis}
        #chart{position:sticky;top:0;left:0;display:none;cursor:pointer}
        aside{width:36%;max-width:620px;border-left:1px solid var(--line);overflow:auto;padding:14px 18px;display:none}
        aside.open{display:block}
        aside h2{font-size:14px;margin:0 0 2px;overflow-wrap:anywhere}
        aside p{margin:0 0 10px;color:var(--dim);font-size:12.5px}
        aside pre{margin:0;font:12.5px/1.6 ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre-wrap;overflow-wrap:anywhere}
        .row.bad .h{color:var(--bad)}
        #overview{flex:1;min-width:0;overflow:auto;padding:16px 18px 40px;display:none}
        #overview.open{display:block}
        .cards{display:flex;flex-wrap:wrap;gap:10px;margin-bottom:18px}
        .card{border:1px solid var(--line);border-radius:10px;padding:8px 14px;background:var(--bg);min-width:104px}
        .card b{display:block;font-size:19px;font-weight:650;font-variant-numeric:tabular-nums}
        .card span{color:var(--dim);font-size:12.5px}
        .card.bad b{color:var(--bad)}
        #overview h2{font-size:14px;margin:22px 0 6px}
        #overview p{margin:4px 0;color:var(--dim)}
        .wide{overflow-x:auto}
        table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums}
        th{text-align:left;color:var(--dim);font-weight:500;padding:3px 14px 3px 0;white-space:nowrap}
        td{padding:3px 14px 3px 0;border-top:1px solid var(--line);white-space:nowrap;max-width:420px;overflow:hidden;text-overflow:ellipsis}
        td.n,th.n{text-align:right}
        tr[data-row],tr[data-link]{cursor:pointer}
        tr[data-row]:hover td,tr[data-link]:hover td{background:var(--hover)}
        td.bad{color:var(--bad)}
        .plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(420px,100%),1fr));gap:16px}
        figure{margin:0;min-width:0}
        figcaption{font-size:13px;font-weight:600;margin-bottom:2px}
        figure canvas{width:100%;height:170px;display:block;cursor:crosshair}
        .legend{display:flex;flex-wrap:wrap;gap:2px 12px;font-size:12px;color:var(--dim)}
        #tip{position:fixed;pointer-events:none;background:var(--panel);border:1px solid var(--line);border-radius:6px;padding:2px 8px;font-size:12px;display:none;z-index:3}
        #close{float:right;border:none;background:none;font-size:18px;line-height:1;padding:2px 6px}
        td.wrap{white-space:normal;overflow-wrap:anywhere;max-width:760px;min-width:140px}
        @media(max-width:1150px){.more{display:none}}
        @media(max-width:760px){#scale{display:none}header{gap:8px;padding:8px 10px}h1{max-width:100%}#count{min-width:0}
        input[type=search]{min-width:0;flex:1 1 100%;order:3;font-size:16px}.kinds{order:4;flex-wrap:nowrap;overflow-x:auto;width:100%;scrollbar-width:none}
        .kinds button{flex:none}#time{padding:4px 10px}nav{padding:6px 10px 0}main{margin:0;border-radius:0;border-width:1px 0 0}
        aside{position:fixed;left:0;right:0;bottom:0;width:auto;max-width:none;max-height:56vh;border-left:none;border-top:2px solid var(--accent);
        background:var(--panel);z-index:2;box-shadow:0 -6px 24px #0004}.row{gap:7px;padding:0 8px}.row .n{display:none}.row .t{width:6.5em}.row .k{display:none}
        #overview{padding:10px 10px 40px}.card{min-width:0;flex:1 1 92px;padding:6px 10px}.card b{font-size:16px}.hide{display:none}
        th,td{padding-right:8px}td.wrap{min-width:110px}}
        .empty{padding:40px;text-align:center;color:var(--dim)}
        </style>
        </head>

        """
}
