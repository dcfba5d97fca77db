addEventListener("beforeprint",()=>{for(const one of document.querySelectorAll("details"))one.open=true});
