extension HTMLPage {
    /// The overview, its plots, and what the address of the page says; behind `script`.
    static let overview: StaticString = #"""
        // The overview: what happened, who was there, what went wrong, and how it went over time.
        const SERIES=["#3b7ddd","#e08a1e","#3fa34d","#c2447c","#7a5cc7","#1f9e9e","#b5651d","#808a9b"];
        const make=(tag,text,name)=>{const e=document.createElement(tag);if(text!==undefined)e.textContent=text;if(name)e.className=name;return e};
        function table(heads,rows){const wrap=make("div",undefined,"wide"),t=make("table"),h=make("tr");
          for(const [text,name] of heads)h.append(make("th",text,name));t.append(h);
          for(const row of rows){const tr=make("tr");for(const key of ["row","link"])if(row[key]!==undefined)tr.dataset[key]=row[key];
            if(row.row!==undefined)tr.onclick=()=>reveal(row.row);if(row.link!==undefined)tr.onclick=()=>show(row.link);
            row.cells.forEach((c,j)=>tr.append(make("td",c,[heads[j][1],row.bad===j?"bad":""].join(" ").trim())));t.append(tr)}
          wrap.append(t);return wrap}
        let built=null;
        function drawOverview(){const o=$("overview");if(built){for(const p of built)p.paint();return}
          const n=v=>v.toLocaleString("en"),cards=make("div",undefined,"cards"),add=(v,t,isBad)=>{const c=make("div",undefined,"card"+(isBad?" bad":""));c.append(make("b",v),make("span",t));cards.append(c)};
          const octets=LINKS.reduce((s,l)=>s+l.octets,0);
          add(n(ROWS.length),"packets");add(nice(whole),"duration");add((ROWS.length/(whole/1e6)).toFixed(1)+"/s","packets");add(n(devices.size),"devices heard");add(n(LINKS.length),LINKS.length===1?"connection":"connections");
          if(octets)add(octets>9999?(octets/1000).toFixed(1)+" kB":n(octets)+" B","values over ATT");add(n(errors.length),errors.length===1?"error":"errors",errors.length>0);
          for(const m of measured().slice(0,4))add(m.range,"of "+m.what);o.append(cards);
          if(errors.length){o.append(make("h2","Errors"));
            o.append(table([["packet","n"],["time","n hide"],["what","wrap"]],errors.slice(0,100).map(([i,e])=>({row:i,bad:2,cells:["#"+ROWS[i][0],seconds(ROWS[i][1]),e]}))));
            if(errors.length>100)o.append(make("p","and "+n(errors.length-100)+" more, in red in the list of packets"))}
          if(LINKS.length){o.append(make("h2","Connections"));
            const list=count=>table([["device"],["name","more"],["from","n hide"],["lasted","n"],["ended","wrap"],["MTU","n"],["interval","n more"],["PHY","more"],["requests","n more"],["latency, worst","n"],["ATT errors","n"],["retries","n more"],["values","n more"],["B out, in","n more"]],
              LINKS.slice(0,count).map(l=>({link:links.has(l.c)?l.c:undefined,bad:l.bad?4:l.errors?10:l.failed?11:-1,cells:[l.address||"handle "+l.handle,l.name,seconds(l.from-firstTime),nice(l.lasted),l.end,l.mtu||"",
                l.interval?l.interval*1.25+" ms":"",l.phy,n(l.requests),l.answers?nice(l.mean)+", "+nice(l.worst):"",n(l.errors),n(l.failed+l.repeated),n(l.values),n(l.sent)+", "+n(l.received)]})));
            // A hundred are drawn at once.
            let shownLinks=list(100);o.append(shownLinks);
            if(LINKS.length>100){const more=make("button","Show all "+n(LINKS.length));more.onclick=()=>{const all=list(LINKS.length);shownLinks.replaceWith(all);shownLinks=all;more.remove()};o.append(more)}}
          if(FAILED)o.append(make("p",n(FAILED)+(FAILED===1?" attempt":" attempts")+" to connect became no connection"));
          const ranked=[...devices.values()].sort((a,b)=>b.count-a.count);
          const plots=make("div",undefined,"plots");built=[];
          const put=(p,where=plots)=>{where.append(p);built.push(p)};
          const steps=Math.max(60,Math.min(400,Math.ceil(whole/1e6))),width=whole/steps,sums=new Float64Array(steps);
          for(let i=0;i<ROWS.length;i++)sums[Math.min(steps-1,Math.floor((times[i]-firstTime)/width))]++;
          put(plot("Packets a second",[{name:"",line:true,points:[...sums].map((v,j)=>[firstTime+(j+.5)*width,Math.round(v/(width/1e6)*10)/10])}],"packets/s",0));
          const heard=ranked.filter(d=>d.rssi.length).slice(0,8);
          if(heard.length)put(plot("RSSI, dBm, of the devices heard most",heard.map(d=>({name:d.name||d.address,points:d.rssi})),"dBm"));
          const of=(list,c)=>list.filter(p=>p[3]===c),name=c=>links.get(c).address||links.get(c).name;
          if(latencies.length)put(plot("ATT latency, ms",[...new Set(latencies.map(p=>p[3]))].slice(0,8).map(c=>({name:name(c),points:of(latencies,c)})),"ms",0));
          if(credits.length)put(plot("Credits given",[...new Set(credits.map(p=>p[3]))].slice(0,8).map(c=>({name:name(c),points:of(credits,c)})),"credits",0));
          o.append(make("h2","Over time"),plots);
          drawMeasures(o,put);
          if(ranked.length){o.append(make("h2","Devices that advertised"));
            o.append(table([["address"],["name"],["reports","n"],["strongest","n"]],ranked.slice(0,200).map(d=>({row:d.rssi.length?d.rssi[0][2]:undefined,
              cells:[d.address+" "+d.type,d.name,n(d.count),d.rssi.length?d.rssi.reduce((m,p)=>Math.max(m,p[1]),-127)+" dBm":""]}))));
            if(ranked.length>200)o.append(make("p","and "+n(ranked.length-200)+" more"))}
          for(const p of built)p.paint()}
        // The address of the page says what is shown, so that it can be kept and sent.
        let linked=0;function link(){if(linked)return;linked=1;setTimeout(()=>{linked=0;const p=[];
          if(tab>-2)p.push("tab="+(tab<0?"packets":"c"+(tab+1)));if(selected>=0)p.push("packet="+ROWS[selected][0]);if(query)p.push("search="+encodeURIComponent(query));
          if(off.size)p.push("without="+[...off].map(k=>KINDS[k][0]).join(","));if(from>firstTime||to<lastTime)p.push("time="+Math.round(from)+","+Math.round(to));
          try{history.replaceState(null,"","#"+p.join("&"))}catch(e){}},120)}
        function follow(){const p=new Map(location.hash.slice(1).split("&").map(s=>s.split("=")));
          const t=p.get("tab")||"",w=(p.get("time")||"").split(",").map(Number);
          if(w.length===2&&w[0]<w[1]){from=Math.max(firstTime,w[0]);to=Math.min(lastTime,w[1])}
          try{query=decodeURIComponent(p.get("search")||"").toLowerCase()}catch(e){query=""}
          $("search").value=query;off.clear();for(const k of (p.get("without")||"").split(",")){const i=KINDS.findIndex(x=>x[0]===k);if(i>=0)off.add(i)}
          for(const b of $("kinds").children)b.setAttribute("aria-pressed",String(!off.has(+b.dataset.kind)));
          tab=t==="packets"?-1:/^c\d+$/.test(t)&&links.has(+t.slice(1)-1)?+t.slice(1)-1:p.has("packet")||query?-1:-2;
          const i=p.has("packet")?ROWS.findIndex(r=>r[0]===+p.get("packet")):-1;after=i>=0?()=>reveal(i):null;mark();select()}
        addEventListener("hashchange",follow);
        read();

        """#
}
