extension HTMLPage {
    /// Plots over time, and those of the numbers that devices have sent; between `script` and `overview`.
    static let plots: StaticString = #"""
        // A range that is never narrower than what matters of a unit: noise does not fill the plot, and a constant is a line in its
        // middle. It ends at round numbers.
        const SPANS={bpm:20,"°C":2,"°F":4,"%":10,hPa:4,dBm:20,ms:1,V:.2,mV:100,lx:50};
        function axis(low,high,unit,floor){
          const least=SPANS[unit]||Math.max(Math.abs(low),Math.abs(high))*.02||1,natural=low>=0?0:-Infinity,most=unit==="%"&&high<=100?100:Infinity;
          if(floor!==undefined)low=Math.min(low,floor);
          if(high-low<least){const middle=(low+high)/2;low=middle-least/2;high=middle+least/2;if(low<natural){high+=natural-low;low=natural}if(high>most){low-=high-most;high=most}}
          const raw=(high-low)/4,power=10**Math.floor(Math.log10(raw)),step=[1,2,5,10].map(m=>m*power).find(s=>s>=raw*.999)||raw;
          return {low:Math.floor(low/step+1e-6)*step,high:Math.ceil(high/step-1e-6)*step,step,places:Math.max(0,-Math.floor(Math.log10(step)+1e-6))}}
        function plot(title,series,unit,floor,note){
          const f=make("figure"),c=make("canvas"),g=make("div",undefined,"legend");f.append(make("figcaption",title),c,g);
          series.forEach((s,j)=>{s.colour=SERIES[j%SERIES.length];if(series.length>1){const e=make("span",s.name),d=make("span",undefined,"dot");d.style.background=s.colour;d.style.marginRight="5px";e.prepend(d);g.append(e)}});
          if(note)g.append(make("span",note));
          let low=Infinity,high=-Infinity;for(const s of series)for(const p of s.points){if(p[1]<low)low=p[1];if(p[1]>high)high=p[1]}
          if(low>high)low=high=0;
          const r=axis(low,high,unit,floor);low=r.low;high=r.high;f.dataset.axis=low.toFixed(r.places)+" "+high.toFixed(r.places);
          const x=(t,w)=>48+(t-firstTime)/whole*(w-56),y=v=>146-(v-low)/(high-low)*134;
          const paint=()=>{const w=c.clientWidth||400,q=fit(c,w,170);c.style.width="100%";q.font="11px system-ui,DejaVu Sans,sans-serif";q.textBaseline="middle";
            for(let n=0;n<=Math.round((high-low)/r.step);n++){const v=low+n*r.step;q.strokeStyle=rule;q.lineWidth=1;q.beginPath();q.moveTo(48,y(v));q.lineTo(w-8,y(v));q.stroke();
              q.fillStyle=dim;q.textAlign="right";q.fillText(v.toFixed(r.places),44,y(v))}
            q.textAlign="left";q.fillText("0 s",48,161);q.textAlign="right";q.fillText(nice(whole),w-8,161);
            for(const s of series){q.fillStyle=q.strokeStyle=s.colour;q.lineWidth=1.5;
              // By pixel, the least and the greatest: no more is seen.
              const cols=new Map();for(const p of s.points){const at=x(p[0],w)|0,m=cols.get(at);if(!m)cols.set(at,[p[1],p[1]]);else{if(p[1]<m[0])m[0]=p[1];if(p[1]>m[1])m[1]=p[1]}}
              if(s.line){q.beginPath();let first=true;for(const [at,m] of [...cols].sort((a,b)=>a[0]-b[0])){first?q.moveTo(at,y(m[1])):q.lineTo(at,y(m[1]));first=false}q.stroke()}
              if(!s.line||s.dots)for(const [at,m] of cols){q.fillRect(at-1,y(m[1])-1,2.5,Math.max(2.5,y(m[0])-y(m[1])))}}};
          const near=e=>{const b=c.getBoundingClientRect(),t=firstTime+(e.clientX-b.left-48)/(b.width-56)*whole,v=low+(146-(e.clientY-b.top))/134*(high-low);let best=null,d=Infinity;
            for(const s of series)for(const p of s.points){const n=Math.abs(p[0]-t)/whole*3+Math.abs(p[1]-v)/(high-low);if(n<d){d=n;best=[s,p]}}return best};
          c.onmousemove=e=>{const b=near(e);if(!b)return;const tip=$("tip");tip.style.display="block";tip.textContent=(b[0].name?b[0].name+": ":"")+b[1][1]+" "+unit+" at "+nice(b[1][0]-firstTime);
            tip.style.left=Math.min(innerWidth-tip.offsetWidth-8,e.clientX+12)+"px";tip.style.top=e.clientY+14+"px"};
          c.onmouseleave=()=>$("tip").style.display="none";c.onclick=e=>{const b=near(e);$("tip").style.display="none";if(b&&b[1][2]!==undefined)reveal(b[1][2])};
          f.paint=paint;return f}
        // The series of the devices, those with the most values first, and in words what they have.
        const count=v=>v.toLocaleString("en"),one=v=>+v.toPrecision(8)+"";
        const many=(name,n)=>name==="battery"?many("battery level",n):n===1?name:/(^| ).$/.test(name)?"values of "+name:/[^aeiou ]y$/.test(name)?name.slice(0,-1)+"ies":name.endsWith("s")?name:name+"s";
        let ordered=null;
        function measured(){if(ordered)return ordered;ordered=MEASURES.filter(m=>m.count).sort((a,b)=>b.count-a.count);
          for(const m of ordered){const name=m.name.toLowerCase(),l=links.get(m.c),d=devices.get(m.address);
            m.range=(m.low===m.high?one(m.low):one(m.low)+" – "+one(m.high))+" "+m.unit;
            m.what=count(m.count)+" "+many(name,m.count);m.whose=l?l.address&&devices.get(l.address)&&devices.get(l.address).name||l.address||l.name:d&&d.name||m.address;
            m.title=(m.name?m.name[0].toUpperCase()+m.name.slice(1):"Value")+", "+m.unit+" · "+m.whose;
            m.note=m.range+(m.points.length<m.count?" · "+count(m.points.length)+" of ":" · of ")+m.what+(m.points.length<m.count?" shown":"")}
          return ordered}
        function drawMeasures(o,put){const all=measured();if(!all.length)return;
          const where=make("div",undefined,"plots"),add=m=>put(plot(m.title,[{name:"",line:true,dots:m.points.length<200,points:m.points}],m.unit,undefined,m.note),where);
          o.append(make("h2","What devices measured"),where);
          // A dozen are drawn at once.
          all.slice(0,12).forEach(add);
          if(all.length>12){const more=make("button","Show all "+all.length);more.onclick=()=>{all.slice(12).forEach(add);for(const p of where.children)p.paint();more.remove()};o.append(more)}
          if(OMITTED)o.append(make("p",count(OMITTED)+" values of further quantities are in the list of packets, without a plot"))}

        """#
}
