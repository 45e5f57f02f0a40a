extension HTMLPage {
    /// What the page does: packets, charts, the timeline.
    static let script: StaticString = #"""
        "use strict";
        const $=id=>document.getElementById(id);
        // Rows are read in pieces, so that the page stays responsive however many there are.
        const ROWS=[];
        const pause=()=>new Promise(r=>setTimeout(r,0));
        // A row: frame, µs since the first, way (0 sent, 1 received, 2 note), kinds, connection, headline, fields.
        const KINDS=[["command",1,"--command"],["event",2,"--event"],["advertising",1024,"--adv"],["ATT",256,"--att"],["SMP",512,"--smp"],
          ["L2CAP",68,"--l2cap"],["link layer",4096,"--link"],["other",56,"--other"]];
        const kindOf=k=>k&1024?2:k&256?3:k&512?4:k&1?0:k&2?1:k&68?5:k&4096?6:7;
        const ROW=24;
        const css=name=>getComputedStyle(document.documentElement).getPropertyValue(name).trim();
        let colours=[],ink="",dim="",rule="",bad="",accent="";
        function readColours(){colours=KINDS.map(k=>css(k[2]));ink=css("--text");dim=css("--dim");rule=css("--line");bad=css("--bad");accent=css("--accent")}
        // A clock may have been set back: the first row need not be the earliest.
        let firstTime=0,lastTime=1,whole=1;
        const off=new Set();let query="",tab=-2,shown=[],selected=-1,from=0,to=1,rowHeight=ROW;
        const seconds=us=>(us/1e6).toFixed(6);
        const clock=us=>{const d=new Date((START+us)/1000);return isNaN(d)?"?":d.toISOString().replace(/^.*T/,"").slice(0,12)};
        const nice=us=>us>=1e6?(us/1e6).toFixed(us>=1e8?0:2)+" s":us>=1e3?(us/1e3).toFixed(us>=1e5?0:1)+" ms":Math.round(us)+" µs";
        const links=new Map(),devices=new Map(),errors=[],times=new Float64Array(COUNT),sorts=new Uint8Array(COUNT),counts=KINDS.map(()=>0),latencies=[],credits=[];
        // What went wrong in a row, in words; "" for nothing. Attribute Not Found ends every discovery.
        function wrong(r){const k=r[3],h=r[5],f=r[6];if(k&2048)return "malformed packet";
          if(k&256)return h.includes("ATT Error Response")&&!f.includes("Attribute Not Found")&&!h.includes("Attribute Not Found")?h.slice(h.indexOf("ATT Error Response")):"";
          if(k&512)return h.includes("Pairing Failed")?"pairing failed: "+((/Reason: ([^\n]*)/.exec(f)||[])[1]||""):"";
          if(k&2){if(h.startsWith("Hardware Error"))return "hardware error";
            if(h.startsWith("Disconnection Complete")){const e=reason(f);return /\(0x(13|16)\)/.test(e)?"":"disconnected: "+e}
            const s=f.indexOf("Status: ");if(s>=0&&!f.startsWith("success",s+8)){const m=/Status: ([^\n]*)/.exec(f);return h.replace(/^Command (Complete|Status) \(0x0[ef]\): /,"")+": "+m[1]}}
          return k&4&&/Reject/.test(h)?h:""}
        const reason=f=>(/Reason: ([^\n]*)/.exec(f)||[,"no reason given"])[1];
        const ADDRESS=/(?:[0-9A-F]{2}:){5}[0-9A-F]{2}/;
        function take(r,i){const c=r[4],k=r[3],f=r[6],h=r[5];ROWS.push(r);times[i]=r[1];sorts[i]=kindOf(k);counts[sorts[i]]++;
          if(r[1]<firstTime)firstTime=r[1];if(r[1]>lastTime)lastTime=r[1];
          const e=wrong(r);if(e){errors.push([i,e]);sorts[i]|=128}
          if(k&1024){for(const part of f.split(/\n? *- Event Type: /)){const a=/Address: ([0-9A-F:]{17})/.exec(part);if(!a)continue;
              let d=devices.get(a[1]);if(!d)devices.set(a[1],d={address:a[1],type:(/Address Type: (\w+)/.exec(part)||[,""])[1],name:"",count:0,rssi:[]});d.count++;
              const s=/RSSI: (-?\d+) dBm/.exec(part);if(s)d.rssi.push([r[1],+s[1],i]);
              if(!d.name){const n=/Local Name: "([^\n]*)"/.exec(part);if(n)d.name=n[1].replace(/(\\u0000)+$/,"")}}}
          if(c<0)return;
          let l=links.get(c);if(!l)links.set(c,l={rows:[],name:"Connection "+(c+1),address:"",end:"",ended:-1});
          if(!l.address){const m=ADDRESS.exec(h+"\n"+f);if(m)l.address=m[0]}l.rows.push(i);
          if(k&256){if(f.includes(" after ")){const m=/Answers: #\d+ after ([\d.]+) ms/.exec(f);if(m)latencies.push([r[1],+m[1],i,c])}}
          else if(k&2){if(h.startsWith("Disconnection Complete")){l.end=reason(f);l.ended=i}}
          else if(k&4){const m=/Credits: (\d+)/.exec(f);if(m)credits.push([r[1],+m[1],i,c])}}
        async function read(){let until=performance.now()+12;
          for(const piece of document.querySelectorAll("script.rows")){for(const r of JSON.parse(piece.textContent))take(r,ROWS.length);piece.remove();
            if(performance.now()>until){$("count").textContent="reading, "+Math.floor(ROWS.length/COUNT*100)+" %";await pause();until=performance.now()+12}}
          whole=lastTime-firstTime;from=firstTime;to=lastTime;begin()}
        $("name").textContent=NAME;
        function addKinds(){KINDS.forEach((k,i)=>{const n=counts[i];if(!n)return;
          const b=document.createElement("button");b.setAttribute("aria-pressed","true");b.dataset.kind=i;
          b.innerHTML='<span class="dot" style="background:var('+k[2]+')"></span>';b.append(k[0]+" "+n.toLocaleString("en"));
          b.onclick=()=>{const on=off.has(i);on?off.delete(i):off.add(i);b.setAttribute("aria-pressed",on);select()};$("kinds").append(b)})}
        function addTab(id,text){const b=document.createElement("button");b.role="tab";b.textContent=text;b.dataset.tab=id;
          b.onclick=()=>show(id);$("tabs").append(b)}
        function show(id){tab=id;$("view").scrollTop=0;mark();select()}
        async function begin(){readColours();addKinds();addTab(-2,"Overview");addTab(-1,"All packets");for(const [c,l] of links)addTab(c,l.name+(l.address?" · "+l.address:""));
          // First the timeline: its height decides how much room the rest has.
          addLanes();await pause();drawTimeline();await pause();follow();document.body.dataset.ready=1}
        function mark(){for(const b of $("tabs").children)b.setAttribute("aria-selected",String(+b.dataset.tab===tab))}
        // A search looks through the texts in pieces; what it has found so far is shown.
        let job=0,after=null;
        function select(){const mine=++job,base=tab<0?null:(links.get(tab)||{rows:[]}).rows,n=base?base.length:ROWS.length;shown=[];
          const wanted=query?new RegExp(query.replace(/[.*+?^${}()|[\]\\]/g,"\\$&"),"i"):null;let j=0;
          const step=()=>{if(mine!==job)return;const until=wanted?performance.now()+12:Infinity;
            for(;j<n;j++){const i=base?base[j]:j;if(off.has(sorts[i]&127)||times[i]<from||times[i]>to)continue;
              if(wanted){if((j&127)===127&&performance.now()>until)break;const r=ROWS[i];if(!wanted.test(r[5])&&!wanted.test(r[6]))continue}
              shown.push(i)}
            const all=ROWS.length.toLocaleString("en"),isDone=j>=n;if(isDone)delete document.body.dataset.busy;else document.body.dataset.busy=1;
            $("count").textContent=(shown.length===ROWS.length?all:shown.length.toLocaleString("en")+" of "+all)+" packets"+(isDone?"":" …");
            draw();if(!isDone){setTimeout(step,0);return}
            drawTimeline();link();if(after){const f=after;after=null;f()}};
          step()}
        function draw(){const o=tab===-2;$("overview").className=o?"open":"";$("view").style.display=o?"none":"";o?drawOverview():tab<0?drawRows():drawChart()}
        // A headline without the connection, which fills narrow lines.
        const brief=h=>h.replace(/^0x[0-9a-f]{4} (?:(?:[0-9A-F]{2}:){5}[0-9A-F]{2} (?:random |public )?)?/,"");
        function drawRows(){
          const v=$("view"),s=$("space");$("chart").style.display="none";s.style.height=shown.length*ROW+"px";
          const a=Math.max(0,Math.floor(v.scrollTop/ROW)-10),b=Math.min(shown.length,a+Math.ceil(v.clientHeight/ROW)+20);
          s.textContent="";
          if(!shown.length){s.innerHTML='<div class="empty">No packet matches.</div>';return}
          const f=document.createDocumentFragment(),short=v.clientWidth<700;
          for(let j=a;j<b;j++){const i=shown[j],r=ROWS[i],k=kindOf(r[3]),e=document.createElement("div");
            e.className="row"+(i===selected?" on":"")+(sorts[i]&128?" bad":"");e.style.top=j*ROW+"px";e.dataset.row=i;
            for(const [c,t,col] of [["n","#"+r[0]],["t",seconds(r[1])],["d",r[2]===0?"◂":r[2]===1?"▸":"·",colours[k]],["k",KINDS[k][0],colours[k]],["h",short?brief(r[5]):r[5]]]){
              const x=document.createElement("span");x.className=c;x.textContent=t;if(col)x.style.color=col;e.append(x)}
            e.onclick=()=>open(i);f.append(e)}
          s.append(f)}
        function fit(c,w,h){const p=devicePixelRatio||1;c.style.width=w+"px";c.style.height=h+"px";
          if(c.width!==Math.round(w*p)||c.height!==Math.round(h*p)){c.width=Math.round(w*p);c.height=Math.round(h*p)}
          const g=c.getContext("2d");g.setTransform(p,0,0,p,0,0);g.clearRect(0,0,w,h);return g}
        // The message-sequence chart: the host at the left, the device at the right, a message a line.
        const TOP=44;
        function drawChart(){
          const v=$("view"),s=$("space"),c=$("chart"),w=v.clientWidth,h=v.clientHeight;s.textContent="";
          s.style.height=Math.max(shown.length*rowHeight+TOP+40-h,0)+"px";c.style.display="block";
          const g=fit(c,w,h),slim=w<620,left=slim?64:Math.max(150,w*.16),right=w-left,l=links.get(tab);
          const a=Math.max(0,Math.floor(v.scrollTop/rowHeight)),b=Math.min(shown.length,a+Math.ceil(h/rowHeight)+1);
          const font=Math.min(13,Math.max(7,rowHeight*.46));
          g.strokeStyle=rule;g.lineWidth=2;for(const x of [left,right]){g.beginPath();g.moveTo(x,TOP-8);g.lineTo(x,h);g.stroke()}
          g.textBaseline="middle";
          for(let j=a;j<b;j++){const i=shown[j],r=ROWS[i],k=kindOf(r[3]),y=TOP+(j+.5)*rowHeight-v.scrollTop+4;
            if(y<TOP-2)continue;
            const gap=j?r[1]-ROWS[shown[j-1]][1]:0;g.fillStyle=dim;g.font=Math.min(font,11.5)+"px ui-monospace,Menlo,Consolas,DejaVu Sans Mono,monospace";
            if(rowHeight>=12&&!slim){g.textAlign="left";g.fillText(seconds(r[1]),12,y);
              if(gap>=1e5){g.textAlign="right";g.fillText("+"+nice(gap),w-12,y)}}
            const failed=sorts[i]&128;
            if(i===l.ended){g.strokeStyle=failed?bad:ink;g.fillStyle=g.strokeStyle;g.lineWidth=2;g.setLineDash([6,4]);g.beginPath();g.moveTo(left-30,y+3);g.lineTo(right+30,y+3);g.stroke();g.setLineDash([]);
              if(rowHeight>=12){g.font="600 "+font+"px system-ui,Segoe UI,DejaVu Sans,sans-serif";g.textAlign="center";
                // The whole reason, on as many lines as it needs.
                const lines=[""];for(const word of ("link ended: "+l.end).split(" ")){const last=lines.length-1,next=(lines[last]+" "+word).trim();
                  if(lines[last]&&g.measureText(next).width>w-24)lines.push(word);else lines[last]=next}
                lines.forEach((text,n)=>{const m=g.measureText(text).width+16,at=y+n*font*1.35;
                  g.fillStyle=css("--panel");g.fillRect((w-m)/2,at-font*.6,m,font*1.4);g.fillStyle=failed?bad:ink;g.fillText(text,w/2,at+2)})}continue}
            const col=failed?bad:i===selected?accent:colours[k],sent=r[2]===0,x1=sent?left:right,x2=sent?right:left;
            g.strokeStyle=col;g.fillStyle=col;g.lineWidth=i===selected?2.5:1.4;
            g.beginPath();g.moveTo(x1,y+font*.62);g.lineTo(x2,y+font*.62);g.stroke();
            const t=sent?-1:1,z=Math.max(3,Math.min(7,rowHeight*.2));
            g.beginPath();g.moveTo(x2,y+font*.62);g.lineTo(x2+t*z*1.5,y+font*.62-z*.8);g.lineTo(x2+t*z*1.5,y+font*.62+z*.8);g.fill();
            if(rowHeight>=12){g.font=(i===selected?"600 ":"")+font+"px system-ui,Segoe UI,DejaVu Sans,sans-serif";g.textAlign="center";
              let text=brief(r[5]).replace(/ \(0x[0-9a-f]{2}\)/,"");
              const value=/\n? *Value: (.*)/.exec(r[6]);if(value&&k===3&&!text.includes("Read By"))text+=": "+(/ = (.*)/.exec(value[1])||[0,value[1]])[1];
              const room=right-left-20;while(text.length>8&&g.measureText(text).width>room)text=text.slice(0,Math.max(8,text.length*.92|0))+"…";
              g.fillText(text,(left+right)/2,y-font*.18)}}
          g.clearRect(0,0,w,TOP-8);
          g.font="600 13px system-ui,Segoe UI,DejaVu Sans,sans-serif";g.textAlign="center";
          for(const [x,t] of [[left,"Host"],[right,l.address||"Device"]]){const m=g.measureText(t).width+24,at=Math.max(m/2+2,Math.min(w-m/2-2,x));
            g.fillStyle=css("--hover");g.beginPath();g.roundRect(at-m/2,6,m,26,8);g.fill();g.fillStyle=ink;g.fillText(t,at,20)}
          if(!shown.length){g.fillStyle=dim;g.fillText("No packet matches.",w/2,h/2)}}
        function open(i){selected=i;const r=ROWS[i],d=$("details"),k=kindOf(r[3]);d.className="open";d.textContent="";
          const close=document.createElement("button");close.id="close";close.textContent="×";close.setAttribute("aria-label","Close");close.onclick=shut;d.append(close);
          const h=document.createElement("h2"),p=document.createElement("p"),x=document.createElement("pre");
          h.textContent=r[5];h.style.color=sorts[i]&128?bad:colours[k];
          p.textContent="#"+r[0]+" · "+["host to controller","controller to host","note"][r[2]]+" · "+clock(r[1])+" UTC · "+seconds(r[1])+" s";
          x.textContent=r[6].replace(/^ {6}/gm,"").trimEnd();const e=errors.find(e=>e[0]===i);
          d.append(h,p);if(e){const w=document.createElement("p");w.style.color=bad;w.textContent=e[1];d.append(w)}d.append(x);if(tab>-2)draw();drawTimeline();link()}
        function shut(){selected=-1;$("details").className="";draw();drawTimeline();link()}
        // Goes to a packet, wherever it stands.
        function reveal(i){if(tab===-2)tab=-1;if(!shown.includes(i)){query="";$("search").value="";off.clear();for(const b of $("kinds").children)b.setAttribute("aria-pressed","true");from=firstTime;to=lastTime}
          mark();select();open(i);$("view").scrollTop=Math.max(0,shown.indexOf(i)*(tab<0?ROW:rowHeight)-$("view").clientHeight/2);draw()}
        // The timeline: a lane for HCI, one for advertising, one for each device that is connected.
        const laneNames=["HCI","Advertising"],laneOf=new Map();
        function addLanes(){for(const [c,l] of links){const n=l.address||l.name;let i=laneNames.indexOf(n);if(i<0&&laneNames.length<14){i=laneNames.length;laneNames.push(n)}laneOf.set(c,i)}}
        function lanes(){return {count:laneNames.length,of:r=>r[4]>=0?laneOf.get(r[4]):r[3]&1024?1:0}}
        function drawTimeline(){
          const c=$("timeline"),w=c.parentElement.clientWidth-(innerWidth>760?32:20),L=lanes(),lane=Math.max(14,Math.min(20,140/L.count)),h=L.count*lane+20,g=fit(c,w,h),span=Math.max(1,to-from);
          const label=w>500?118:0,width=w-label,x=us=>label+(us-from)/span*width;
          g.font="11px system-ui,DejaVu Sans,sans-serif";g.textBaseline="middle";
          for(let i=0;i<L.count;i++){g.fillStyle=i%2?css("--bg"):css("--hover");g.fillRect(label,i*lane,width,lane);
            if(label){g.fillStyle=dim;g.textAlign="left";g.fillText(laneNames[i],0,i*lane+lane/2,label-8)}}
          // One mark for each pixel, lane and kind, errors over the others.
          const drawn=new Uint8Array((Math.ceil(w)+2)*L.count*16),marks=[];
          for(let i=0;i<ROWS.length;i++){const t=times[i];if(t<from||t>to)continue;const s=sorts[i],k=s&127;if(off.has(k))continue;const n=L.of(ROWS[i]);if(n<0||n>=L.count)continue;
            const at=x(t)|0,z=s&128?15:k,key=(at*L.count+n)*16+z;if(drawn[key])continue;drawn[key]=1;if(z===15){marks.push([at,n]);continue}g.fillStyle=colours[k];g.fillRect(at,n*lane+2,1.5,lane-4)}
          g.fillStyle=bad;for(const [at,n] of marks)g.fillRect(at,n*lane,2,lane);
          if(selected>=0&&ROWS[selected][1]>=from&&ROWS[selected][1]<=to){g.strokeStyle=accent;g.lineWidth=2;const at=x(ROWS[selected][1]);g.beginPath();g.moveTo(at,0);g.lineTo(at,L.count*lane);g.stroke()}
          g.fillStyle=dim;const step=[1,2,5].flatMap(m=>[...Array(14).keys()].map(e=>m*10**e)).sort((a,b)=>a-b).find(s=>s>=span/Math.max(2,width/110))||span;
          for(let t=Math.ceil(from/step)*step;t<=to;t+=step){g.textAlign=x(t)>w-30?"right":x(t)<14?"left":"center";g.fillText(t>=1e6||t===0&&step>=1e6?(t/1e6).toFixed(step>=1e6?0:step>=1e5?1:step>=1e4?2:3)+" s":nice(t),x(t),h-8)}
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
        addEventListener("keydown",e=>{if(e.key==="Escape"&&selected>=0)shut();if(e.key==="/"&&document.activeElement!==$("search")){e.preventDefault();$("search").focus()}});
        addEventListener("resize",later);matchMedia("(prefers-color-scheme:dark)").addEventListener("change",()=>{readColours();select()});

        """#
}
