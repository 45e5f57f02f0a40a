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

    static let style: StaticString = """
        <style>
        :root{--bg:#fbfbfd;--panel:#fff;--line:#e3e5ec;--text:#1d2230;--dim:#737a8c;--accent:#2f5fdd;--hover:#eef2fd;
        --command:#0a84a5;--event:#a86a00;--att:#2f7d32;--smp:#a02fbf;--l2cap:#4c5aa8;--adv:#7d8797;--other:#9a6b4f;--bad:#c62828}
        @media(prefers-color-scheme:dark){:root{--bg:#14161c;--panel:#1b1e26;--line:#2c313d;--text:#e4e7ef;--dim:#8f97a9;
        --accent:#7da2ff;--hover:#242a38;--command:#4fc3e0;--event:#e5b454;--att:#7fca82;--smp:#d68bf0;--l2cap:#9aa7f5;
        --adv:#98a2b3;--other:#d0a184;--bad:#ff7b72}}
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
        .empty{padding:40px;text-align:center;color:var(--dim)}
        </style>
        </head>

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
        <aside id="details" aria-label="Packet"></aside></main>

        """

    static let script: StaticString = #"""
        "use strict";
        // A row: frame, µs since the first, way (0 sent, 1 received, 2 note), kinds, connection, headline, fields.
        const KINDS=[["command",1,"--command"],["event",2,"--event"],["advertising",1024,"--adv"],["ATT",256,"--att"],["SMP",512,"--smp"],
          ["L2CAP",4,"--l2cap"],["other",56,"--other"]];
        const kindOf=k=>k&1024?2:k&256?3:k&512?4:k&1?0:k&2?1:k&4?5:6;
        const $=id=>document.getElementById(id), ROW=24;
        const css=name=>getComputedStyle(document.documentElement).getPropertyValue(name).trim();
        let colours=[],ink="",dim="",rule="",bad="",accent="";
        function readColours(){colours=KINDS.map(k=>css(k[2]));ink=css("--text");dim=css("--dim");rule=css("--line");bad=css("--bad");accent=css("--accent")}
        // A clock may have been set back: the first row need not be the earliest.
        const firstTime=ROWS.reduce((m,r)=>Math.min(m,r[1]),0),lastTime=ROWS.reduce((m,r)=>Math.max(m,r[1]),firstTime+1),whole=lastTime-firstTime;
        const off=new Set();let query="",tab=-1,shown=[],selected=-1,from=firstTime,to=lastTime,rowHeight=ROW,haystack=null;
        const seconds=us=>(us/1e6).toFixed(6);
        const clock=us=>{const d=new Date((START+us)/1000);return isNaN(d)?"?":d.toISOString().replace(/^.*T/,"").slice(0,12)};
        const nice=us=>us>=1e6?(us/1e6).toFixed(us>=1e8?0:2)+" s":us>=1e3?(us/1e3).toFixed(us>=1e5?0:1)+" ms":Math.round(us)+" µs";
        const links=new Map();
        for(let i=0;i<ROWS.length;i++){const c=ROWS[i][4];if(c<0)continue;
          let l=links.get(c);if(!l)links.set(c,l={rows:[],name:"Connection "+(c+1),address:""});
          if(!l.address){const m=/(?:[0-9A-F]{2}:){5}[0-9A-F]{2}/.exec(ROWS[i][5]+"\n"+ROWS[i][6]);if(m)l.address=m[0]}l.rows.push(i)}
        $("name").textContent=NAME;
        KINDS.forEach((k,i)=>{const n=ROWS.reduce((s,r)=>s+(kindOf(r[3])===i),0);if(!n)return;
          const b=document.createElement("button");b.setAttribute("aria-pressed","true");b.dataset.kind=i;
          b.innerHTML='<span class="dot" style="background:var('+k[2]+')"></span>';b.append(k[0]+" "+n.toLocaleString("en"));
          b.onclick=()=>{const on=off.has(i);on?off.delete(i):off.add(i);b.setAttribute("aria-pressed",on);select()};$("kinds").append(b)});
        function addTab(id,text){const b=document.createElement("button");b.role="tab";b.textContent=text;b.dataset.tab=id;
          b.onclick=()=>{tab=id;$("view").scrollTop=0;mark();select()};$("tabs").append(b)}
        addTab(-1,"All packets");for(const [c,l] of links)addTab(c,l.name+(l.address?" · "+l.address:""));
        function mark(){for(const b of $("tabs").children)b.setAttribute("aria-selected",String(+b.dataset.tab===tab))}
        function select(){
          const base=tab<0?null:links.get(tab).rows,n=base?base.length:ROWS.length;shown=[];
          if(query&&!haystack)haystack=ROWS.map(r=>(r[5]+"\n"+r[6]).toLowerCase());
          for(let j=0;j<n;j++){const i=base?base[j]:j,r=ROWS[i];
            if(off.has(kindOf(r[3])))continue;if(r[1]<from||r[1]>to)continue;
            if(query&&!haystack[i].includes(query))continue;shown.push(i)}
          $("count").textContent=shown.length===ROWS.length?ROWS.length.toLocaleString("en")+" packets":shown.length.toLocaleString("en")+" of "+ROWS.length.toLocaleString("en")+" packets";
          draw();drawTimeline()}
        function draw(){tab<0?drawRows():drawChart()}
        function drawRows(){
          const v=$("view"),s=$("space");$("chart").style.display="none";s.style.height=shown.length*ROW+"px";
          const a=Math.max(0,Math.floor(v.scrollTop/ROW)-10),b=Math.min(shown.length,a+Math.ceil(v.clientHeight/ROW)+20);
          s.textContent="";
          if(!shown.length){s.innerHTML='<div class="empty">No packet matches.</div>';return}
          const f=document.createDocumentFragment();
          for(let j=a;j<b;j++){const i=shown[j],r=ROWS[i],k=kindOf(r[3]),e=document.createElement("div");
            e.className="row"+(i===selected?" on":"");e.style.top=j*ROW+"px";e.dataset.row=i;
            for(const [c,t,col] of [["n","#"+r[0]],["t",seconds(r[1])],["d",r[2]===0?"◂":r[2]===1?"▸":"·",colours[k]],["k",KINDS[k][0],colours[k]],["h",r[5]]]){
              const x=document.createElement("span");x.className=c;x.textContent=t;if(col)x.style.color=col;if(c==="h"&&r[3]&2048)x.style.color=bad;e.append(x)}
            e.onclick=()=>open(i);f.append(e)}
          s.append(f)}
        function fit(c,w,h){const p=devicePixelRatio||1;c.style.width=w+"px";c.style.height=h+"px";
          if(c.width!==Math.round(w*p)||c.height!==Math.round(h*p)){c.width=Math.round(w*p);c.height=Math.round(h*p)}
          const g=c.getContext("2d");g.setTransform(p,0,0,p,0,0);g.clearRect(0,0,w,h);return g}
        // The message-sequence chart: the host on the left, the device on the right, one message per line.
        const TOP=44;
        function drawChart(){
          const v=$("view"),s=$("space"),c=$("chart"),w=v.clientWidth,h=v.clientHeight;s.textContent="";
          s.style.height=Math.max(shown.length*rowHeight+TOP+20-h,0)+"px";c.style.display="block";
          const g=fit(c,w,h),left=Math.max(150,w*.16),right=w-Math.max(150,w*.16),l=links.get(tab);
          const a=Math.max(0,Math.floor(v.scrollTop/rowHeight)),b=Math.min(shown.length,a+Math.ceil(h/rowHeight)+1);
          const font=Math.min(13,Math.max(7,rowHeight*.46));
          g.strokeStyle=rule;g.lineWidth=2;for(const x of [left,right]){g.beginPath();g.moveTo(x,TOP-8);g.lineTo(x,h);g.stroke()}
          g.textBaseline="middle";
          for(let j=a;j<b;j++){const i=shown[j],r=ROWS[i],k=kindOf(r[3]),y=TOP+(j+.5)*rowHeight-v.scrollTop+4;
            if(y<TOP-2)continue;
            const gap=j?r[1]-ROWS[shown[j-1]][1]:0;g.fillStyle=dim;g.font=Math.min(font,11.5)+"px ui-monospace,Menlo,Consolas,DejaVu Sans Mono,monospace";
            if(rowHeight>=12){g.textAlign="left";g.fillText(seconds(r[1]),12,y);
              if(gap>=1e5){g.textAlign="right";g.fillText("+"+nice(gap),w-12,y)}}
            const col=r[3]&2048?bad:i===selected?accent:colours[k],sent=r[2]===0,x1=sent?left:right,x2=sent?right:left;
            g.strokeStyle=col;g.fillStyle=col;g.lineWidth=i===selected?2.5:1.4;
            g.beginPath();g.moveTo(x1,y+font*.62);g.lineTo(x2,y+font*.62);g.stroke();
            const t=sent?-1:1,z=Math.max(3,Math.min(7,rowHeight*.2));
            g.beginPath();g.moveTo(x2,y+font*.62);g.lineTo(x2+t*z*1.5,y+font*.62-z*.8);g.lineTo(x2+t*z*1.5,y+font*.62+z*.8);g.fill();
            if(rowHeight>=12){g.font=(i===selected?"600 ":"")+font+"px system-ui,Segoe UI,DejaVu Sans,sans-serif";g.textAlign="center";
              let text=r[5].replace(/^0x[0-9a-f]{4} (?:(?:[0-9A-F]{2}:){5}[0-9A-F]{2} (?:random |public )?)?/,"").replace(/ \(0x[0-9a-f]{2}\)/,"");
              const value=/\n? *Value: (.*)/.exec(r[6]);if(value&&k===3&&!text.includes("Read By"))text+=": "+(/ = (.*)/.exec(value[1])||[0,value[1]])[1];
              const room=right-left-20;while(text.length>8&&g.measureText(text).width>room)text=text.slice(0,Math.max(8,text.length*.92|0))+"…";
              g.fillText(text,(left+right)/2,y-font*.18)}}
          g.clearRect(0,0,w,TOP-8);
          g.font="600 13px system-ui,Segoe UI,DejaVu Sans,sans-serif";g.textAlign="center";
          for(const [x,t] of [[left,"Host"],[right,l.address||"Device"]]){const m=g.measureText(t).width+24;
            g.fillStyle=css("--hover");g.beginPath();g.roundRect(x-m/2,6,m,26,8);g.fill();g.fillStyle=ink;g.fillText(t,x,20)}
          if(!shown.length){g.fillStyle=dim;g.fillText("No packet matches.",w/2,h/2)}}
        function open(i){selected=i;const r=ROWS[i],d=$("details"),k=kindOf(r[3]);d.className="open";d.textContent="";
          const h=document.createElement("h2"),p=document.createElement("p"),x=document.createElement("pre");
          h.textContent=r[5];h.style.color=colours[k];
          p.textContent="#"+r[0]+" · "+["host to controller","controller to host","note"][r[2]]+" · "+clock(r[1])+" UTC · "+seconds(r[1])+" s";
          x.textContent=r[6].replace(/^ {6}/gm,"").trimEnd();d.append(h,p,x);draw();drawTimeline()}
        // The timeline: a lane for HCI, one for advertising, one for each device that is connected.
        const laneNames=["HCI","Advertising"],laneOf=new Map();
        for(const [c,l] of links){const n=l.address||l.name;let i=laneNames.indexOf(n);if(i<0&&laneNames.length<14){i=laneNames.length;laneNames.push(n)}laneOf.set(c,i)}
        function lanes(){return {count:laneNames.length,of:r=>r[4]>=0?laneOf.get(r[4]):r[3]&1024?1:0}}
        function drawTimeline(){
          const c=$("timeline"),w=c.parentElement.clientWidth-32,L=lanes(),lane=Math.max(14,Math.min(20,140/L.count)),h=L.count*lane+20,g=fit(c,w,h),span=Math.max(1,to-from);
          const label=w>500?118:0,width=w-label,x=us=>label+(us-from)/span*width;
          g.font="11px system-ui,DejaVu Sans,sans-serif";g.textBaseline="middle";
          for(let i=0;i<L.count;i++){g.fillStyle=i%2?css("--bg"):css("--hover");g.fillRect(label,i*lane,width,lane);
            if(label){g.fillStyle=dim;g.textAlign="left";g.fillText(laneNames[i],0,i*lane+lane/2,label-8)}}
          const drawn=new Set();
          for(const r of ROWS){if(r[1]<from||r[1]>to)continue;const k=kindOf(r[3]);if(off.has(k))continue;const n=L.of(r);if(n<0||n>=L.count)continue;
            const at=x(r[1])|0,key=at*64+n*8+k;if(drawn.has(key))continue;drawn.add(key);g.fillStyle=r[3]&2048?bad:colours[k];g.fillRect(at,n*lane+2,1.5,lane-4)}
          if(selected>=0&&ROWS[selected][1]>=from&&ROWS[selected][1]<=to){g.strokeStyle=accent;g.lineWidth=2;const at=x(ROWS[selected][1]);g.beginPath();g.moveTo(at,0);g.lineTo(at,L.count*lane);g.stroke()}
          g.fillStyle=dim;const step=[1,2,5].flatMap(m=>[...Array(14).keys()].map(e=>m*10**e)).sort((a,b)=>a-b).find(s=>s>=span/Math.max(2,width/110))||span;
          for(let t=Math.ceil(from/step)*step;t<=to;t+=step){g.textAlign=x(t)>w-30?"right":"center";g.fillText(t>=1e6||t===0&&step>=1e6?(t/1e6).toFixed(step>=1e6?0:step>=1e5?1:step>=1e4?2:3)+" s":nice(t),x(t),h-8)}
          $("range").textContent=clock(from)+" – "+clock(to)+" UTC";$("scale").textContent=nice(span)+" across · ×"+(whole/span).toFixed(whole/span<10?1:0)}
        function zoom(factor,centre){const span=to-from,n=Math.min(whole,Math.max(50,span*factor));const m=centre===undefined?.5:centre;
          const at=from+span*m;from=Math.max(firstTime,Math.min(lastTime-n,at-n*m));to=from+n;later()}
        let pending=0;function later(){if(pending)return;pending=1;setTimeout(()=>{pending=0;select()},16)}
        $("in").onclick=()=>zoom(.5);$("out").onclick=()=>zoom(2);$("all").onclick=()=>{from=firstTime;to=lastTime;rowHeight=ROW;select()};
        const place=e=>{const b=$("timeline").getBoundingClientRect(),label=b.width>500?118:0;return Math.min(1,Math.max(0,(e.clientX-b.left-label)/(b.width-label)))};
        $("timeline").addEventListener("wheel",e=>{e.preventDefault();zoom(Math.exp(Math.sign(e.deltaY)*.25),place(e))},{passive:false});
        let drag=null;
        $("timeline").onpointerdown=e=>{drag={x:e.clientX,from,to,moved:false};$("timeline").setPointerCapture(e.pointerId)};
        $("timeline").onpointermove=e=>{if(!drag)return;if(Math.abs(e.clientX-drag.x)>3)drag.moved=true;
          const n=drag.to-drag.from,d=(drag.x-e.clientX)/$("timeline").clientWidth*n;from=Math.max(firstTime,Math.min(lastTime-n,drag.from+d));to=from+n;later()};
        $("timeline").onpointerup=e=>{if(drag&&!drag.moved&&shown.length){const t=from+place(e)*(to-from);let best=shown[0];
          for(const i of shown)if(Math.abs(ROWS[i][1]-t)<Math.abs(ROWS[best][1]-t))best=i;open(best);
          $("view").scrollTop=shown.indexOf(best)*(tab<0?ROW:rowHeight)-$("view").clientHeight/2;draw()}drag=null};
        $("view").addEventListener("scroll",()=>draw());
        $("view").addEventListener("wheel",e=>{if(tab<0||!e.ctrlKey)return;e.preventDefault();const old=rowHeight;
          rowHeight=Math.min(64,Math.max(3,rowHeight*Math.exp(-Math.sign(e.deltaY)*.2)));$("view").scrollTop*=rowHeight/old;draw()},{passive:false});
        $("chart").onclick=e=>{const b=$("chart").getBoundingClientRect(),j=Math.floor((e.clientY-b.top-TOP-4+$("view").scrollTop)/rowHeight);if(shown[j]!==undefined)open(shown[j])};
        $("view").onkeydown=e=>{const d=e.key==="ArrowDown"?1:e.key==="ArrowUp"?-1:0;if(!d||!shown.length)return;e.preventDefault();
          const j=Math.min(shown.length-1,Math.max(0,shown.indexOf(selected)+d)),h=tab<0?ROW:rowHeight,v=$("view");
          if(j*h<v.scrollTop)v.scrollTop=j*h;if((j+2)*h>v.scrollTop+v.clientHeight)v.scrollTop=(j+2)*h-v.clientHeight;open(shown[j])};
        $("search").oninput=e=>{query=e.target.value.toLowerCase();$("view").scrollTop=0;select()};
        addEventListener("keydown",e=>{if(e.key==="/"&&document.activeElement!==$("search")){e.preventDefault();$("search").focus()}});
        addEventListener("resize",later);matchMedia("(prefers-color-scheme:dark)").addEventListener("change",()=>{readColours();select()});
        readColours();mark();select();

        """#
}
