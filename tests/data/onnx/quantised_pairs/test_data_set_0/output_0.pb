BoutputJ8Yp?êO¿ HÚ=ù×L>¢>Cí(¾O.Í?])^?L L¿ìf
>šÞk>nXœ<ÒÅ’¾P÷Å?